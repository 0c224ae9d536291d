// Primitive: replace groups of tasks by other sequences of tasks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/core/result.h"
#include "sim/edit/relations.h"
#include "sim/edit/weights.h"
#include "sim/graph/change.h"
#include "sim/graph/task_graph.h"

namespace foretrace::transform {

struct NewTask {
  std::string name;  ///< empty: that of the task it is like
  std::int64_t duration_ns = 0;
  Trust trust{};
};
/// Tasks that go, in id order, and what comes instead, where the last of them stood.
struct Replacement {
  std::vector<TaskId> tasks;
  std::vector<NewTask> with;
  std::int64_t launch_segment_ns = 0;  ///< host time before each call but the first
};

///   before   h: l1 l2 l3                      after replace({k1, k2, k3}, {fused(25)})   h: l
///            s: k1(10,l1) k2(20,l2) k3(5,l3)                                            s:
///            fused(25,l)
///
/// New tasks are like the last one that goes: its lane, work, phase, layer. Where that has a call
/// that goes with it, each new one gets a call like it. Host time before calls that go stays. Who
/// waits for whom: as for merge(). Returns the new tasks per replacement. Errors: an empty group,
/// a task in two groups, device work replaced by nothing.
[[nodiscard]] Result<std::vector<std::vector<TaskId>>> replace(
    Change& change, const TaskGraph& graph, const Relations& relations,
    std::span<const Replacement> replacements);

}  // namespace foretrace::transform
