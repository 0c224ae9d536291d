// Primitive: copies of a part of a graph, on the same lanes, on new lanes or on new ranks.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sim/core/result.h"
#include "sim/graph/change.h"
#include "sim/graph/task_graph.h"

namespace foretrace::transform {

enum class Onto : std::uint8_t {
  same_lanes,  ///< copies follow the original on its lanes: more of the same work
  new_lanes,   ///< every copy has lanes of its own, on the same ranks and devices
  new_ranks    ///< every copy has ranks of its own, behind those that exist
};

struct Copies {
  std::vector<std::vector<TaskId>> tasks;          ///< per copy, in the order of the originals
  std::vector<std::map<LaneId, LaneId>> new_lane;  ///< per copy
};

///   before   h: a   s: k(a)        after replicate({a, k}, 1, new_lanes)
///                                  h: a   s: k(a)   h': a'   s': k'(a')
///
/// Dependencies and waits among the tasks are copied; a dependency on a task outside is one of
/// every copy (not for new ranks: they see nothing of the others); nobody outside waits for a copy.
/// Tensors, demands and segment parts are not copied. Errors: a task that does not exist.
[[nodiscard]] Result<Copies> replicate(Change& change, const TaskGraph& graph,
                                       std::span<const TaskId> tasks, std::size_t copies,
                                       Onto onto);

}  // namespace foretrace::transform
