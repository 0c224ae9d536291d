// The kernels of a run by kind: what a cost function that sees no graph is asked about.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/hardware/costs/cost_table.h"
#include "models/hardware/costs/kernel_cost.h"
#include "models/hardware/kernels/kernel_rules.h"
#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace::costing {

/// Kernels that are alike in all that tells one from another. Texts live as long as the graph.
struct KernelKind {
  TableKernel text;
  KernelTraits traits;
  WorkAmount amount;               ///< of the recorded inputs; unknown where none are
  std::optional<KernelTile> tile;  ///< where the name has one
  std::size_t count = 0;
  std::int64_t total_ns = 0;  ///< durations of all of them
};

/// What a row of a table tells kernels by.
[[nodiscard]] TableKernel table_kernel(const TaskGraph& graph, TaskId kernel);

/// The kinds of the kernels that `selection` means, in the order in which they first run.
/// Collectives, copies and sets are none. ErrorCode::no_match where nothing is left.
[[nodiscard]] Result<std::vector<KernelKind>> kernel_kinds(const TaskGraph& graph,
                                                           std::string_view selection);

/// The kernels among the tasks that `selection` means, in id order.
[[nodiscard]] Result<std::vector<TaskId>> selected_kernels(const TaskGraph& graph,
                                                           std::string_view selection);

}  // namespace foretrace::costing
