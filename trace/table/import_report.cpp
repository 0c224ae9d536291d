#include "trace/table/import_report.h"

#include <algorithm>

namespace foretrace::trace {
namespace {

std::uint64_t total(const std::vector<Damage>& damage, DamageKind kind) {
  std::uint64_t sum = 0;
  for (const Damage& entry : damage) {
    sum += entry.kind == kind ? entry.count : 0;
  }
  return sum;
}

}  // namespace

std::uint64_t ImportReport::dropped() const { return total(damage, DamageKind::dropped); }

std::uint64_t ImportReport::repaired() const { return total(damage, DamageKind::repaired); }

void ImportReport::count(DamageKind kind, std::string_view reason, std::uint64_t offset,
                         std::string_view example) {
  const auto found = std::find_if(damage.begin(), damage.end(), [&](const Damage& entry) {
    return entry.kind == kind && entry.reason == reason;
  });
  if (found != damage.end()) {
    ++found->count;
    return;
  }
  damage.push_back(Damage{kind, std::string(reason), 1, offset, std::string(example)});
}

}  // namespace foretrace::trace
