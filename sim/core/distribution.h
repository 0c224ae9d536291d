// What is said of many values of one kind: their mean and where they lie.
#pragma once

#include <vector>

namespace foretrace {

/// In the unit of the values; zeros where there are none. Between two values a quantile is drawn
/// straight.
struct Distribution {
  double mean = 0;
  double median = 0;
  double p90 = 0;
  double p99 = 0;
  double most = 0;
};
[[nodiscard]] Distribution distribution_of(std::vector<double> values);

}  // namespace foretrace
