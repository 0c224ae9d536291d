// Which further measurement makes the range of a prediction narrower, and what it becomes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/session/prediction.h"
#include "apps/session/session.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/result.h"

namespace foretrace {

/// Something to measure, and the range if it turned out as predicted.
struct Measurement {
  std::string name;  ///< "unprofiled step"
  std::string how;   ///< what to do, and what to state then
  int effort = 0;  ///< 0: nothing is run; 1: one more run; 2: a run of another kind; 3: a benchmark
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
  double width = 1;  ///< of the range on a logarithmic scale, afterwards / now
};

struct NarrowerAnswer {
  std::vector<Measurement> rows;  ///< the cheapest that halves the range first, then the narrowest
  Measurement together;           ///< all of them; width 1 if there is none
};

/// Tries each measurement that a part of the range asks for by predicting once more without that
/// part. Those that leave more than 98 % of the width are left out.
[[nodiscard]] Result<NarrowerAnswer> find_narrower(const Session& session,
                                                   std::span<const WhatIf> stack,
                                                   const Prediction& prediction);

}  // namespace foretrace
