#include "sim/core/distribution.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace foretrace {
namespace {

// Between the two nearest values.
double quantile_of(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(std::floor(at));
  const std::size_t high = std::min(sorted.size() - 1, low + 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

}  // namespace

Distribution distribution_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  Distribution distribution;
  if (values.empty()) return distribution;
  distribution.mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  distribution.median = quantile_of(values, 0.5);
  distribution.p90 = quantile_of(values, 0.9);
  distribution.p99 = quantile_of(values, 0.99);
  distribution.most = values.back();
  return distribution;
}

}  // namespace foretrace
