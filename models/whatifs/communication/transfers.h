// Collectives as what-ifs see them: the tasks whose time is moving bytes, and what they move.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace::editing {

/// The part of a collective that moves bytes, on one rank.
struct Transfer {
  TaskId task{};
  /// False: a kernel whose ranks are not all in the graph; its time may hold waiting for them.
  bool met = false;
};

/// Among the tasks that a selection means, those that transfer: the finish of a collective that
/// meets other ranks, the whole of one that does not. Errors: as Selection::parse(); no_match.
[[nodiscard]] Result<std::vector<Transfer>> find_transfers(const TaskGraph& graph,
                                                           std::string_view selection);

}  // namespace foretrace::editing
