// Primitive: merge tasks of one lane into one.
#pragma once

#include <span>
#include <vector>

#include "sim/core/result.h"
#include "sim/edit/relations.h"
#include "sim/edit/weights.h"
#include "sim/graph/change.h"
#include "sim/graph/task_graph.h"

namespace foretrace::transform {

/// Tasks that become one, on one lane, in id order.
struct Merge {
  std::vector<TaskId> tasks;
  std::int64_t duration_ns = -1;  ///< of the merged task; -1: the sum
  Trust trust{};                  ///< of a duration that is given; a sum is as good as its parts
};

///   before   h: l1 l2 l3                        after merge({k1, k2, k3})   h: l3
///            s: k1(10,l1) k2(20,l2) k3(5,l3)                                s: k3(35,l3)
///
/// The last task stays and stands for all: only there does every input exist. The others go, with
/// the calls that enqueued nothing else; host time before them stays. What waited for one of them
/// waits for the merged task, so that merging across a path out of and back into the group is a
/// cycle, which commit() names. One call takes all groups of a change, for they may depend on each
/// other. Errors: tasks of two lanes, a task in two groups.
[[nodiscard]] Status merge(Change& change, const TaskGraph& graph, const Relations& relations,
                           std::span<const Merge> merges);

}  // namespace foretrace::transform
