#include "apps/driver/scheduler/policies/centre.h"

#include <algorithm>
#include <cmath>

namespace foretrace::scheduling {
namespace {

constexpr double close = 1e-9;
constexpr int halvings = 80;

// The largest log((y - least) y (1 - y)) - price y lies where its derivative, which falls, is 0.
double share_at(double least, double price) {
  double low = least;
  double high = 1;
  for (int i = 0; i < halvings; ++i) {
    const double y = (low + high) / 2;
    const double slope = 1 / (y - least) + 1 / y - 1 / (1 - y) - price;
    (slope > 0 ? low : high) = y;
  }
  return (low + high) / 2;
}

}  // namespace

std::vector<double> centre(const std::vector<double>& least, const std::vector<std::int32_t>& gpus,
                           double capacity) {
  double needed = 0;
  for (std::size_t j = 0; j < least.size(); ++j) {
    needed += least[j] * gpus[j];
  }
  std::vector<double> shares = least;
  for (double& share : shares) share = std::min(share, 1.0);
  if (needed >= capacity * (1 - close)) return shares;
  const auto used_at = [&](double price) {
    double used = 0;
    for (std::size_t j = 0; j < least.size(); ++j) {
      if (least[j] < 1 - close) shares[j] = share_at(least[j], price * gpus[j]);
      used += shares[j] * gpus[j];
    }
    return used;
  };
  // What is left of the capacity is one of the limits: its price is 1 / rest.
  double low = 1 / capacity;
  double high = 1 / std::max(capacity * close, capacity - needed) * 1e6;
  for (int i = 0; i < halvings; ++i) {
    const double price = std::sqrt(low * high);
    (price * (capacity - used_at(price)) < 1 ? low : high) = price;
  }
  used_at(std::sqrt(low * high));
  return shares;
}

}  // namespace foretrace::scheduling
