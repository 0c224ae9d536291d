// Predicts the table of FGD's study: how much of a cluster is allocated when demand has come.
#pragma once

#include "sim/core/result.h"
#include "tests/validation/studies/score.h"

namespace foretrace::scheduling::fgd {

/// Columns policy, seeds and alloc<X>: % of accelerators allocated when X % of capacity was asked
/// for. `nodes` and `pods` are grouped (sched_fgd_nodes, sched_fgd_pods).
[[nodiscard]] Result<TruthScore> score_fgd(const TruthTable& table, const TruthTable& nodes,
                                           const TruthTable& pods);

}  // namespace foretrace::scheduling::fgd
