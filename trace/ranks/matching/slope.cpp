#include "trace/ranks/matching/slope.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "sim/core/statistics.h"

namespace foretrace::trace {

double slope_of(const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& y) {
  constexpr std::size_t most_points = 200;
  const std::size_t stride = x.size() / most_points + 1;
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  const std::int64_t apart = std::max<std::int64_t>(1, (*high - *low) / 4);
  std::vector<double> slopes;
  for (std::size_t i = 0; i < x.size(); i += stride) {
    for (std::size_t j = 0; j < i; j += stride) {
      if (std::abs(x[i] - x[j]) >= apart) {
        slopes.push_back(static_cast<double>(y[i] - y[j]) / static_cast<double>(x[i] - x[j]));
      }
    }
  }
  return upper_median(std::move(slopes));
}

}  // namespace foretrace::trace
