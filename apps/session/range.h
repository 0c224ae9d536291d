// How far a prediction may be off: what its recipe declares, and what no recipe knows.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "apps/session/recording/load.h"
#include "sim/core/result.h"

namespace foretrace {

struct Prediction;
struct Replay;
struct RunOptions;

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
  double doubt = 1;          ///< factor of all above where the answer is doubtful
  double profiler = 0;       ///< its work in the host's times; of the faster side alone

  [[nodiscard]] double total() const;
};

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

}  // namespace foretrace
