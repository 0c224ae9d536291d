// Medians and slopes that a few wild values do not move.
#pragma once

#include <cstdint>
#include <vector>

namespace foretrace::trace {

/// The middle value (the upper one of two); reorders the values, of which there must be one.
[[nodiscard]] std::int64_t median_of(std::vector<std::int64_t>& values);
/// Median distance from the median.
[[nodiscard]] std::int64_t spread_of(std::vector<std::int64_t> values);
/// Slope of y over x as the median slope of pairs of points at least a quarter of the range apart
/// (Theil and Sen, thinned to 200 points); 0 where there are none.
[[nodiscard]] double slope_of(const std::vector<std::int64_t>& x,
                              const std::vector<std::int64_t>& y);

}  // namespace foretrace::trace
