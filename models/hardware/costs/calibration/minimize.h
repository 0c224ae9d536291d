// Smallest value of a function of a few positive parameters, found without derivatives.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace foretrace {

/// A positive parameter: where to begin and how far to go.
struct FreeParameter {
  double start = 1;
  double lowest = 1e-3;
  double highest = 1e3;
};

/// Steps by factors along each parameter and along fixed pseudo-random directions, shorter and
/// shorter. The same on every machine; finds a local minimum.
[[nodiscard]] std::vector<double> minimize(
    std::span<const FreeParameter> parameters,
    const std::function<double(std::span<const double>)>& value);

}  // namespace foretrace
