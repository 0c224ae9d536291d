// Stacks several changes: each is made for, and committed to, the graph that the one before left.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/core/result.h"
#include "sim/graph/change.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

struct EditStage {
  std::string name;
  std::function<Result<Change>(const TaskGraph&)> apply;
};

/// Tasks that a stage changes although an earlier one has changed or made them.
struct Overlap {
  std::size_t earlier = 0;  ///< index of the earlier stage
  std::size_t tasks = 0;
};
struct StageReport {
  std::string name;
  std::size_t tasks_changed = 0;
  std::size_t tasks_after = 0;  ///< size of the graph
  bool topology_changed = false;
  std::vector<Overlap> overlaps;   ///< by earlier stage; legitimate, but order matters then
  std::vector<std::string> notes;  ///< those of the change
};

struct Stacked {
  TaskGraph graph;
  std::vector<TaskId> new_id;  ///< per task of the first graph; none if removed. Empty: unchanged
  std::vector<float> low;      ///< as in Committed, over all stages; empty: all 1
  std::vector<float> high;
  std::vector<StageReport> stages;
};

/// Applies the stages in their order and validates the graph after each (its laws, too, if `checks`
/// says so). Bounds of a duration that two stages scale multiply; a stage that gives it another
/// provenance than `scaled` starts anew.
/// Errors say which stage failed: "stage 'cuda_graph' (2 of 3): ...".
[[nodiscard]] Result<Stacked> stack(const TaskGraph& graph, std::span<const EditStage> stages,
                                    Checks checks = default_checks());

}  // namespace foretrace
