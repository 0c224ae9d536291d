// How far a prediction may be off: what its recipe declares, and what no recipe knows.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "apps/session/prediction.h"
#include "apps/session/recording/recording.h"
#include "apps/session/replay/replay.h"
#include "sim/core/result.h"

namespace foretrace {

/// A constant of the ranges: its value, and which recordings it was set on.
struct RangeConstant {
  std::string_view name;
  double value = 0;
  std::string_view origin;
};
/// All of them, as `validate` prints them.
[[nodiscard]] std::array<RangeConstant, 10> range_constants();

/// Sets low_ns and high_ns of a prediction whose declared bounds are known. Where the host limits
/// it and its times hold a profiler's work, it is simulated once more, with a host without that.
[[nodiscard]] Status set_range(const Recording& recording, const Replay& baseline,
                               const RunOptions& options, Prediction& prediction);

/// low_ns and high_ns from the two sides, around the step.
void place_ends(Prediction& prediction);

}  // namespace foretrace
