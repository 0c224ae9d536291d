// A predicted figure with its range.
#pragma once

namespace foretrace::validation {

inline constexpr double gib = 1024.0 * 1024 * 1024;

struct Figure {
  double value = 0;
  double low = 0;
  double high = 0;

  [[nodiscard]] Figure times(double factor) const {
    return {value * factor, low * factor, high * factor};
  }
};

}  // namespace foretrace::validation
