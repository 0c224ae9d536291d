#include "apps/predictor/sharing.h"

namespace foretrace {

namespace {

// Work that collides with the other's for `busy` of the time gets what is left of it, and at least
// its fair part: both together never have more than the device.
double beside(double busy, double fair) { return std::min(fair, 1 / std::max(1 - busy, 1e-9)); }

}  // namespace

double stretch_of(Sharing sharing, const DeviceUse& own, const DeviceUse& other) {
  switch (sharing) {
    case Sharing::time_slices: return beside(other.busy, 2);
    case Sharing::mps: {
      // While both run, what they fill beyond the whole device is what slows them down.
      const double excess = std::clamp(own.room + other.room - 1, 0.0, 1.0);
      return beside(other.busy * excess, 1 + excess);
    }
    case Sharing::mig: return 1;  // nobody else works in its half
  }
  return 1;
}

std::array<double, 2> shared_speeds(Sharing sharing, const std::array<DeviceUse, 2>& alone) {
  const auto steps = settle(sharing, alone, [&](std::size_t i, double stretch) {
    return Result<double>(1 + alone[i].busy * (stretch - 1));
  });
  return {1 / (*steps)[0], 1 / (*steps)[1]};
}

}  // namespace foretrace
