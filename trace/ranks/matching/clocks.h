// Clocks of ranks, joined over the communicators that connect them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/annotate/collectives/collectives.h"
#include "trace/ranks/matching/match.h"

namespace foretrace::trace {

/// Absolute time of `to_rank`'s clock + offset (+ drift) = absolute time of `from_rank`'s.
struct ClockLink {
  std::uint32_t from_rank = 0;
  std::uint32_t to_rank = 0;
  std::int64_t offset_ns = 0;
  double drift = 0;
  std::int64_t drift_from_ns = 0;  ///< absolute, on the clock of to_rank
  std::int64_t spread_ns = 0;
  std::uint32_t pairs = 0;
};

/// Clocks of all ranks against `reference`, the rank with the most collectives, along the links
/// that spread least. Ranks without a way to the reference keep their recorded clock.
[[nodiscard]] std::vector<RankClock> join_clocks(std::span<const RankCollectives> ranks,
                                                 std::span<const ClockLink> links,
                                                 std::uint32_t& reference);

}  // namespace foretrace::trace
