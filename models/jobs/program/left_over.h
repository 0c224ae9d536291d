// What the parts of a time leave of it.
#pragma once

#include <algorithm>

#include "sim/core/result.h"

namespace foretrace {

/// What is left of `whole` behind its parts. Parts that are more than rounding makes them are a
/// mistake of ours.
[[nodiscard]] inline double left_over(double whole, double parts) {
  const double rest = whole - parts;
  FORETRACE_CHECK(!(rest < -1 - 1e-9 * whole));  // what is no number is told elsewhere
  return std::max(0.0, rest);
}

}  // namespace foretrace
