// What names of collectives stand for, and how their bytes are counted.
#include <array>
#include <cctype>
#include <limits>
#include <string>
#include <utility>

#include "sim/core/text.h"
#include "trace/annotate/collectives/collectives.h"

namespace foretrace::trace {

CollectiveKind collective_kind(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  // In this order: the first part of a name that is found decides.
  constexpr std::array<std::pair<std::string_view, CollectiveKind>, 16> parts = {{
      {"crossdevicereduce", CollectiveKind::all_reduce},
      {"barrier", CollectiveKind::barrier},
      {"allreduce", CollectiveKind::all_reduce},
      {"allgather", CollectiveKind::all_gather},
      {"reducescatter", CollectiveKind::reduce_scatter},
      {"alltoall", CollectiveKind::all_to_all},
      {"sendrecv", CollectiveKind::send_receive},
      {"broadcast", CollectiveKind::broadcast},
      {"gather", CollectiveKind::gather},
      {"scatter", CollectiveKind::scatter},
      {"reduce", CollectiveKind::reduce},
      {"send", CollectiveKind::send},
      {"recv", CollectiveKind::receive},
      // Tokens to the experts and back; before, every rank tells how many it sends.
      {"notify", CollectiveKind::barrier},
      {"dispatch", CollectiveKind::all_to_all},
      {"combine", CollectiveKind::all_to_all},
  }};
  for (const auto& [part, kind] : parts) {
    if (contains(plain, part)) return kind;
  }
  return CollectiveKind::none;
}

bool ends_together(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather ||
         kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::barrier;
}

bool is_point_to_point(CollectiveKind kind) {
  return kind == CollectiveKind::send || kind == CollectiveKind::receive ||
         kind == CollectiveKind::send_receive;
}

std::int64_t payload_bytes(const RankCollective& collective, std::uint32_t ranks) {
  const std::int64_t in = collective.in_bytes;
  const std::int64_t out = collective.out_bytes;
  if (collective.kind == CollectiveKind::all_gather) {
    const bool fits =
        in >= 0 && ranks > 0 && in <= std::numeric_limits<std::int64_t>::max() / ranks;
    return out >= 0 ? out : (fits ? in * ranks : -1);
  }
  return in >= 0 ? in : out;
}

double bus_factor(CollectiveKind kind, std::uint32_t ranks) {
  const double n = ranks;
  switch (kind) {
    case CollectiveKind::all_reduce: return ranks > 0 ? 2 * (n - 1) / n : 0;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all: return ranks > 0 ? (n - 1) / n : 0;
    default: return 1;
  }
}

}  // namespace foretrace::trace
