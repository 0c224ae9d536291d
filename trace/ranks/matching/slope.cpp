#include "trace/ranks/statistics.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace foretrace::trace {

std::int64_t median_of(std::vector<std::int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::int64_t spread_of(std::vector<std::int64_t> values) {
  const std::int64_t middle = median_of(values);
  for (std::int64_t& value : values) {
    value = std::abs(value - middle);
  }
  return median_of(values);
}

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
  if (slopes.empty()) {
    return 0;
  }
  const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  return *middle;
}

}  // namespace foretrace::trace
