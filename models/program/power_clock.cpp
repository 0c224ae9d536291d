#include "models/program/power_clock.h"

#include <algorithm>
#include <cmath>

namespace foretrace {
namespace {

// Power of phases without matrix units against that of long products. Assumed: between idle clocks
// (0.3) and kernels that stream memory (0.7 to 0.8 of the limit).
constexpr double other_power = 0.65;
// Power grows with clock x voltage squared, and voltage less than in proportion. Assumed.
constexpr double power_exponent = 2.5;

}  // namespace

// The mean power is the limit: duty x clock^e + (1 - duty) x other = 1, clock relative to the low
// one.
double clock_at_duty(const SustainedClock& clock, double duty) {
  const double share = std::clamp(duty, 0.01, 1.0);
  const double left = 1 - (1 - share) * other_power;
  const double relative = std::pow(left / share, 1 / power_exponent);
  return std::clamp(clock.low * relative, clock.low, clock.high);
}

}  // namespace foretrace
