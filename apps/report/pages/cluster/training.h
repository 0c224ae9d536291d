// The page of `training`.
#pragma once

#include <span>

#include "apps/plans/time_to_train.h"
#include "apps/report/section.h"

namespace foretrace::report {

/// A training run until its target, for each batch.
struct TrainingPart {
  const TrainingRun& run;
  std::span<const TrainingTime> times;  ///< at least one
};
/// foretrace.training_result/1.
[[nodiscard]] Page training_page(const TrainingPart& part);

}  // namespace foretrace::report
