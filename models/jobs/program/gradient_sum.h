// Adding up gradients along an axis of a job: whole, or by blocks that are not all zero.
#pragma once

#include "models/hardware/collectives/collective_costs.h"
#include "models/jobs/program/rank_program.h"

namespace foretrace {

/// The group of `call` is that of the axis. By blocks, the accelerator reads what its node has
/// added up once to find them, and behind an all-gather adds up what came.
[[nodiscard]] double gradient_sum_ns(const Job& job, const GridAxis& axis, CollectiveCall call,
                                     const SourceScale& scale);

/// Elements that wait until they are added up together, where that runs beside the backward pass.
[[nodiscard]] double bucket_elements(const ParallelPlan& plan);

}  // namespace foretrace
