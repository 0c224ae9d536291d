// Two jobs on one device: each makes the other's step longer, until both are settled.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "apps/predictor/predictor.h"
#include "apps/predictor/source.h"
#include "sim/core/result.h"

namespace foretrace {

/// How much longer device work takes beside a job that has the device for `other.busy` of the time.
/// By MIG: not at all, on whatever part of the device it has.
[[nodiscard]] double stretch_of(Sharing sharing, const DeviceUse& own, const DeviceUse& other);

/// `longer_step(i, stretch)` is a Result: the step of job i, as a multiple of its step alone, when
/// its device work takes `stretch` times as long. Returns these multiples.
template <typename LongerStep>
[[nodiscard]] Result<std::array<double, 2>> settle(Sharing sharing,
                                                   const std::array<DeviceUse, 2>& alone,
                                                   LongerStep longer_step) {
  // A longer step makes the device less busy, so that a few rounds are enough.
  constexpr int most_rounds = 50;
  constexpr double settled = 1e-4;
  std::array<DeviceUse, 2> use = alone;
  std::array<double, 2> stretch = {1, 1};
  std::array<double, 2> step = {1, 1};
  for (int round = 0; round < most_rounds; ++round) {
    double moved = 0;
    for (std::size_t i = 0; i < alone.size(); ++i) {
      const double next = stretch_of(sharing, alone[i], use[1 - i]);
      // Half way each time, so that the two do not swing.
      const double taken = stretch[i] + (next - stretch[i]) / 2;
      moved = std::max(moved, std::abs(taken - stretch[i]));
      stretch[i] = taken;
      FORETRACE_TRY(step[i], longer_step(i, taken));
      // The device does the same work for it, in a longer step.
      use[i].busy = alone[i].busy / std::max(step[i], 1e-9);
    }
    if (moved < settled) break;
  }
  return step;
}

/// Speeds beside each other, against alone, of two jobs of which only their use of the device is
/// known: what is not device work stays as it is.
[[nodiscard]] std::array<double, 2> shared_speeds(Sharing sharing,
                                                  const std::array<DeviceUse, 2>& alone);

}  // namespace foretrace
