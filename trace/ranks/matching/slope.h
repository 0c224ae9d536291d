// A slope that a few wild points do not move.
#pragma once

#include <cstdint>
#include <vector>

namespace foretrace::trace {

/// Slope of y over x as the median slope of pairs of points at least a quarter of the range apart
/// (Theil and Sen, thinned to 200 points); 0 where there are none.
[[nodiscard]] double slope_of(const std::vector<std::int64_t>& x,
                              const std::vector<std::int64_t>& y);

}  // namespace foretrace::trace
