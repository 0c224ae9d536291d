#include "models/hardware/power/power_clock.h"

#include <doctest/doctest.h>

using foretrace::clock_at_duty;
using foretrace::SustainedClock;

TEST_CASE("power: long products keep the low clock, single ones reach the high clock") {
  const SustainedClock clock{1.09, 1.0, 1.19};
  CHECK(clock_at_duty(clock, {1, 0, 0, 0}) == doctest::Approx(1.0));
  CHECK(clock_at_duty(clock, {1, 9, 0, 90}) == doctest::Approx(1.19));
}

TEST_CASE("power: the more a device waits the faster its products") {
  const SustainedClock clock{1.09, 1.0, 1.19};
  double last = 0;
  for (double idle = 0; idle < 2; idle += 0.1) {
    const double now = clock_at_duty(clock, {1, 0.3, 0.2, idle});
    CHECK(now >= last);
    last = now;
  }
}
