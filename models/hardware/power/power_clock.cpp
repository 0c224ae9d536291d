#include "models/hardware/power/power_clock.h"

#include <algorithm>
#include <cmath>

namespace foretrace {
namespace {

// Power against that of long products, which are at the limit. Assumed, as devices report it:
// kernels that stream memory, collectives, and a device that waits.
constexpr double memory_power = 0.7;
constexpr double waiting_power = 0.5;
constexpr double idle_power = 0.3;
// Power grows with clock x voltage squared, and voltage less than in proportion. Assumed; products
// of an H100 and an H200 gave 2.3 and 2.1, copies and sums on the H100 0.7 of the limit, a device
// between launches 0.16 (their files in configs/accelerators say how that was measured).
constexpr double power_exponent = 2.5;

}  // namespace

// The mean power is the limit: products x clock^e + the others = 1, clock relative to the low one.
double clock_at_duty(const SustainedClock& clock, const Duty& duty) {
  const double all = duty.products + duty.memory + duty.waiting + duty.idle;
  if (!(all > 0)) return clock.typical;
  const double products = std::max(0.01, duty.products / all);
  const double others =
      (duty.memory * memory_power + duty.waiting * waiting_power + duty.idle * idle_power) / all;
  const double relative = std::pow((1 - others) / products, 1 / power_exponent);
  return std::clamp(clock.low * relative, clock.low, clock.high);
}

}  // namespace foretrace
