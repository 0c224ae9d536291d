// A late start that nothing recorded explains, right after work of another stream ended: it waited
// for that work.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/late_starts.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::inference_parts {
namespace {

/// Operations that ended at about the same time are looked through no further than this.
constexpr int most_candidates = 256;

/// The latest operation of another stream that ended just before the start.
std::optional<Source> find_ended(const LateStarts& starts, std::uint32_t i, std::int64_t ready) {
  const auto& ops = starts.assembly.ops;
  const DeviceOp& op = ops[i];
  const std::int64_t latest = op.start_ns + source_tolerance_ns;
  const std::int64_t earliest = std::max(op.start_ns - cause_before_ns, ready);
  auto at = std::partition_point(starts.by_end.begin(), starts.by_end.end(),
                                 [&](std::uint32_t x) { return ops[x].end_ns <= latest; });
  for (int tried = 0; at != starts.by_end.begin() && tried < most_candidates; ++tried) {
    const DeviceOp& other = ops[*--at];
    if (other.end_ns < earliest) return std::nullopt;
    if (starts.may_cause(other, op)) {
      return Source{.op = i,
                    .source_op = *at,
                    .origin = EdgeOrigin::inferred,
                    .lag_ns = op.start_ns - other.end_ns};
    }
  }
  return std::nullopt;
}

void explain_by_ends(Assembly& assembly) { assembly.causes.push_back({find_ended}); }

}  // namespace

extern constexpr Rule info = {
    .name = "inference",
    .doc = "late starts right after work of another stream ended: they waited for it",
    .apply = explain_by_ends};

}  // namespace foretrace::trace::rules::inference_parts
