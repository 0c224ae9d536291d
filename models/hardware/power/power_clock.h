// The clock that a device keeps while it trains: matrix units at work draw more than the rest, and
// power is limited.
#pragma once

#include "models/hardware/catalogue/accelerator.h"

namespace foretrace {

/// What a device does with its time, in any unit.
struct Duty {
  double products = 0;  ///< matrix units at full rate
  double memory = 0;    ///< kernels bound by memory
  double waiting = 0;   ///< collectives that nothing covers
  double idle = 0;      ///< launches, other stages
};

/// Clock on the scale of SustainedClock. With products all the time it is the low clock, which is
/// what long runs of them keep; with pauses it rises, to the high clock at most, which is what
/// single products reach.
[[nodiscard]] double clock_at_duty(const SustainedClock& clock, const Duty& duty);

}  // namespace foretrace
