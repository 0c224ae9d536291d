#include "apps/predictor/sharing.h"

#include <doctest/doctest.h>

using foretrace::DeviceUse;
using foretrace::shared_speeds;
using foretrace::Sharing;

TEST_CASE("sharing: two jobs that keep the device busy all the time") {
  const auto speeds = shared_speeds(Sharing::time_slices, {DeviceUse{1, 1}, DeviceUse{1, 1}});
  CHECK(speeds[0] == doctest::Approx(0.5).epsilon(1e-3));
  CHECK(speeds[1] == doctest::Approx(0.5).epsilon(1e-3));
}

TEST_CASE("sharing: a job that needs little of the device leaves the rest to the other") {
  // The first always works. The second takes twice as long for its fifth: 1.2 steps, of which the
  // device has 1/6 for it; 5/6 is left to the first.
  const auto speeds = shared_speeds(Sharing::time_slices, {DeviceUse{1, 1}, DeviceUse{0.2, 1}});
  CHECK(speeds[1] == doctest::Approx(1 / 1.2).epsilon(1e-3));
  CHECK(speeds[0] == doctest::Approx(5.0 / 6).epsilon(1e-3));
  // Nobody uses the device more than all the time.
  for (double first = 0.1; first <= 1; first += 0.1) {
    for (double second = 0.1; second <= 1; second += 0.1) {
      const auto two =
          shared_speeds(Sharing::time_slices, {DeviceUse{first, 1}, DeviceUse{second, 1}});
      CHECK(first * two[0] + second * two[1] <= 1.0005);
    }
  }
}

TEST_CASE("sharing: a job without device work is not slowed, and slows nobody") {
  const auto speeds = shared_speeds(Sharing::mps, {DeviceUse{0, 1}, DeviceUse{1, 1}});
  CHECK(speeds[0] == 1);
  CHECK(speeds[1] == doctest::Approx(1));
}

TEST_CASE("sharing: kernels that fill half of the device each run beside each other") {
  const auto speeds = shared_speeds(Sharing::mps, {DeviceUse{1, 0.5}, DeviceUse{1, 0.5}});
  CHECK(speeds[0] == 1);
  CHECK(speeds[1] == 1);
}
