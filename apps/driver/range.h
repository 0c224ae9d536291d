// How far a prediction may be off: what its recipe declares, and what no recipe knows.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "apps/driver/load.h"
#include "sim/core/result.h"

namespace foretrace::driver {

struct Prediction;
struct Replay;

/// One side of a range: natural logarithms of (bound / point), all from 0 up. What is independent
/// adds up as squares do.
struct RangeSide {
  double recipe = 0;         ///< edited durations and parameters at their declared ends
  double host = 0;           ///< the host's share of the step x how far hosts differ
  double communication = 0;  ///< the same of collectives and transfers
  double change = 0;         ///< grows with the share of the time that changes
  double scatter = 0;        ///< of the recorded steps
  double device = 0;         ///< figures of a product that is only like the recorded one
  double rest = 0;           ///< what a replay leaves out
  double doubt = 1;          ///< factor of all of it where the answer is doubtful

  [[nodiscard]] double total() const;
};

/// A constant of the ranges: its value, and which recordings it was set on.
struct RangeConstant {
  std::string_view name;
  double value = 0;
  std::string_view origin;
};
/// All of them, as `validate` prints them.
[[nodiscard]] std::array<RangeConstant, 9> range_constants();

/// Sets low_ns and high_ns of a prediction whose declared bounds are known.
void set_range(const Recording& recording, const Replay& baseline, Prediction& prediction);

}  // namespace foretrace::driver
