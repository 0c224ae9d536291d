#include "apps/scheduling/policies/centre.h"

#include <algorithm>
#include <cmath>

namespace foretrace::scheduling {
namespace {

constexpr double close = 1e-9;

// The largest log((y - least) y (1 - y)) - price y lies where its derivative, which falls, is 0:
// Newton's steps, halved into the bracket where they leave it.
double share_at(double least, double price) {
  double low = least;
  double high = 1;
  double y = (low + high) / 2;
  while (high - low > 1e-12) {
    const double from_least = 1 / (y - least);
    const double from_zero = 1 / y;
    const double from_one = 1 / (1 - y);
    const double slope = from_least + from_zero - from_one - price;
    (slope > 0 ? low : high) = y;
    const double bend = from_least * from_least + from_zero * from_zero + from_one * from_one;
    const double step = slope / bend;
    if (std::abs(step) < 1e-12) break;
    const double next = y + step;
    y = next > low && next < high ? next : (low + high) / 2;
  }
  return y;
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
  constexpr int halvings = 60;
  for (int i = 0; i < halvings; ++i) {
    const double price = std::sqrt(low * high);
    (price * (capacity - used_at(price)) < 1 ? low : high) = price;
  }
  used_at(std::sqrt(low * high));
  return shares;
}

}  // namespace foretrace::scheduling
