#include "models/hardware/costs/calibration/minimize.h"

#include <array>
#include <cmath>

#include <doctest/doctest.h>

using namespace foretrace;

TEST_CASE("minimize: finds the bottom of a curved valley") {
  // Least at x = 3, y = 0.2, along a valley where x y is constant.
  const std::array<FreeParameter, 2> parameters = {FreeParameter{1, 0.01, 100},
                                                   FreeParameter{1, 0.01, 100}};
  const auto found = minimize(parameters, [](std::span<const double> p) {
    return std::abs(p[0] * p[1] - 0.6) + 0.1 * std::abs(p[0] - 3);
  });
  CHECK(found[0] == doctest::Approx(3).epsilon(0.02));
  CHECK(found[1] == doctest::Approx(0.2).epsilon(0.02));
}

TEST_CASE("minimize: stays within the limits and leaves alone what does not matter") {
  const std::array<FreeParameter, 2> parameters = {FreeParameter{5, 1, 8}, FreeParameter{2, 1, 9}};
  const auto found = minimize(parameters, [](std::span<const double> p) { return -p[0]; });
  CHECK(found[0] == 8);
  CHECK(found[1] == 2);
}
