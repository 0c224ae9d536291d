// A modelled step operator by operator, as a recording of it would be: launches of the host, their
// kernels with names and shapes, collectives, tensors. What-ifs act on it as on recordings.
#pragma once

#include <string_view>

#include "models/jobs/program/rank_program.h"
#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// One rank of every stage, with all its micro-batches; `model` names the layers' root. Its step takes as long as that of
/// pipeline_graph(), or less where the host can run ahead from one block to the next. Errors: those
/// of rank_nodes().
[[nodiscard]] Result<TaskGraph> operator_graph(const Job& job, const RankProgram& program,
                                               std::string_view model);

}  // namespace foretrace
