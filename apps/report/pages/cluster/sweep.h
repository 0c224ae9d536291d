// The page of `sweep`.
#pragma once

#include <vector>

#include "apps/report/section.h"
#include "apps/sweep/run.h"
#include "apps/sweep/space/sweep.h"
#include "apps/sweep/store/select.h"
#include "apps/sweep/store/store.h"

namespace foretrace::report {

/// Points of a sweep that are asked for, and how many there are.
struct SweepAnswer {
  const sweeping::Sweep& sweep;
  sweeping::SweepCounts counts;
  std::vector<sweeping::SelectedPoint> points;
  std::vector<sweeping::FailureCount> failures;  ///< the most frequent reasons
  const sweeping::SweepRun* run = nullptr;       ///< null: the store was only looked at
};
/// foretrace.sweep_result/2.
[[nodiscard]] Page sweep_page(const SweepAnswer& answer);

}  // namespace foretrace::report
