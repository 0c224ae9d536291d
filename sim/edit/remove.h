// Primitive: remove tasks together with what makes no sense without them.
#pragma once

#include <span>
#include <vector>

#include "sim/edit/relations.h"
#include "sim/graph/change.h"
#include "sim/graph/task_graph.h"

namespace foretrace::transform {

enum class Partners : std::uint8_t {
  both,  ///< launches whose device work all goes, device work whose launch goes, other halves
  alone  ///< just the tasks that are named
};

/// The tasks that go when `tasks` go, in id order.
[[nodiscard]] std::vector<TaskId> with_partners(const TaskGraph& graph, const Relations& relations,
                                                std::span<const TaskId> tasks);

///   before   h: l1 ---- l2 ---- l3             after remove({k2})   h: l1 --------- l3
///            s:    k1 ------ k2 ---- k3                             s:    k1 -------- k3
///
/// Whatever waited for a removed task waits for what that came after (see Removal). Host time
/// between calls stays, unless `segment` says that it goes, too. Returns the tasks that go.
std::vector<TaskId> remove(Change& change, const TaskGraph& graph, std::span<const TaskId> tasks,
                           SegmentOf segment = SegmentOf::keep, Partners partners = Partners::both);

}  // namespace foretrace::transform
