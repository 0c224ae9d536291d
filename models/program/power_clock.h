// The clock that a device keeps while it trains: matrix units at work draw more than the rest, and
// power is limited.
#pragma once

#include "models/catalogue/accelerator.h"

namespace foretrace {

/// Clock on the scale of SustainedClock. `duty`: share of time that matrix units work. At a duty of
/// 1 it is the low clock, which is what long runs of products keep; with pauses it rises, to the
/// high clock at most, which is what single products reach.
[[nodiscard]] double clock_at_duty(const SustainedClock& clock, double duty);

}  // namespace foretrace
