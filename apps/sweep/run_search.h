// Runs the searches of sweeps: what a searcher asks for is computed by several threads, unless the
// store has it.
#pragma once

#include "apps/sweep/points/evaluate.h"
#include "apps/sweep/run.h"
#include "apps/sweep/space/sweep.h"
#include "apps/sweep/store/store.h"
#include "sim/core/result.h"

namespace foretrace::sweeping {

/// Rows are in the store before the searcher hears of them; a search that was cut off reads them
/// there and ends with the same rows.
[[nodiscard]] Result<SweepRun> run_search(const Sweep& sweep, const Evaluation& evaluation,
                                          const SweepSettings& settings, Store& store);

}  // namespace foretrace::sweeping
