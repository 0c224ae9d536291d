// A step with every rank for itself: what folding leaves out because equal ranks are one class.
#pragma once

#include <cstdint>

#include "models/jobs/program/rank_program.h"
#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// How far times of ranks and of their kernels scatter, as shares of one standard deviation.
struct Jitter {
  double ranks = 0;   ///< a rank is always as fast or slow: silicon, cooling, memory
  double passes = 0;  ///< each piece of a pass anew
  std::uint64_t seed = 1;
};

/// Every rank has its lane and its own times. Passes are cut where the ranks of a tensor group meet
/// (without one at layers): the slowest of the group decides each time. Copies of a stage meet for
/// the gradients, all ranks for their norm. Without jitter the step takes as long as folded.
/// Error: the schedule's shape, a deadlock, or more tasks than ids.
[[nodiscard]] Result<TaskGraph> unfolded_graph(const Job& job, const RankProgram& program,
                                               const Jitter& jitter);

}  // namespace foretrace
