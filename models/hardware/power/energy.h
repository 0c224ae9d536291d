// What the device of a recording draws in a step, as recorded or as predicted.
#pragma once

#include <cstdint>
#include <optional>

#include "models/hardware/catalogue/accelerator.h"
#include "models/hardware/catalogue/catalogue.h"
#include "models/hardware/power/board_power.h"
#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// Share of the time of kernels in which they fill the device: each as far as its blocks reach
/// over the multiprocessors. 1 where no blocks are recorded.
[[nodiscard]] double filled_share(const TaskGraph& graph, std::int32_t multiprocessors);

/// Of a step of one rank that computes for `compute_ns`. None where nothing is known of the board.
/// Error: what is wrong in the file of boards.
[[nodiscard]] Result<std::optional<Energy>> step_energy(const Catalogue& catalogue,
                                                        const Accelerator& accelerator,
                                                        const TaskGraph& graph,
                                                        std::int64_t step_ns,
                                                        std::int64_t compute_ns);

}  // namespace foretrace
