// Order statistics of samples, named by which value they give where there is a choice.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

namespace foretrace {

/// The value that has `before` values before it in order. There must be more than that.
template <typename T>
[[nodiscard]] T nth_value(std::vector<T> values, std::size_t before) {
  const auto at = std::next(values.begin(), static_cast<std::ptrdiff_t>(before));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// The middle value, of an even number of values the smaller of the two.
template <typename T>
[[nodiscard]] T lower_median(std::vector<T> values, T if_empty = T{}) {
  const std::size_t count = values.size();
  return count == 0 ? if_empty : nth_value(std::move(values), (count - 1) / 2);
}

/// The middle value, of an even number of values the larger of the two.
template <typename T>
[[nodiscard]] T upper_median(std::vector<T> values, T if_empty = T{}) {
  const std::size_t count = values.size();
  return count == 0 ? if_empty : nth_value(std::move(values), count / 2);
}

/// The value that has `percent` of the values before it, rounded down; 100 gives the largest.
template <typename T>
[[nodiscard]] T percentile(std::vector<T> values, std::size_t percent, T if_empty = T{}) {
  const std::size_t count = values.size();
  return count == 0 ? if_empty
                    : nth_value(std::move(values), std::min(count * percent / 100, count - 1));
}

/// Mean of the middle half: as robust as a median, and finer than the steps in which clocks tick.
template <typename T>
[[nodiscard]] T mean_of_middle_half(std::vector<T> values, T if_empty = T{}) {
  if (values.empty()) {
    return if_empty;
  }
  const auto quarter = static_cast<std::ptrdiff_t>(values.size() / 4);
  std::sort(values.begin(), values.end());
  const auto from = values.begin() + quarter;
  const auto to = values.end() - quarter;
  return std::accumulate(from, to, T{}) / static_cast<T>(to - from);
}

/// Upper median of the distances from the upper median.
template <typename T>
[[nodiscard]] T median_deviation(std::vector<T> values, T if_empty = T{}) {
  const T middle = upper_median(values);
  for (T& value : values) {
    value = value > middle ? value - middle : middle - value;
  }
  return upper_median(std::move(values), if_empty);
}

}  // namespace foretrace
