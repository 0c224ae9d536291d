// Direct links between the accelerators of a node, and the rings that they allow.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/config.h"

namespace foretrace {

/// Lanes of equal rate, each with one direction for either end.
struct Lanes {
  std::vector<std::vector<std::uint32_t>> between;  ///< by both accelerators; symmetric
  double bandwidth = 0;                             ///< B/s of a lane, one direction
};
/// More accelerators have too many rings to count.
inline constexpr std::uint32_t most_laned = 8;

/// Rings through the first so many accelerators of a node that share no lane in one direction, at
/// most. One that has lanes to a single other is passed by going there and back. 0: some
/// accelerator is not joined to the others.
[[nodiscard]] std::uint32_t rings_through(const Lanes& lanes, std::uint32_t accelerators);

/// Bus bandwidth of a ring collective by accelerators, from 0 on.
[[nodiscard]] std::vector<double> ring_rates(const Lanes& lanes);

/// "lanes" ("0-3=2": two lanes join these) with "lane_bandwidth" of a node; none where it has none.
[[nodiscard]] Lanes read_lanes(ConfigFields& node, std::uint32_t accelerators);

}  // namespace foretrace
