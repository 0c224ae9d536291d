// What the rules behind resolved waits will find in the new graph.
#pragma once

#include <vector>

#include "sim/graph/links.h"
#include "sim/graph/task_graph.h"

namespace foretrace::committing {

struct Placement;

class WaitSight {
 public:
  /// `lane` is that of every new task, `lanes` those of the new graph.
  WaitSight(const TaskGraph& graph, const Placement& placement, const std::vector<Lane>& lanes,
            const std::vector<LaneId>& lane)
      : graph_(graph),
        placement_(placement),
        lanes_(lanes),
        lane_(lane),
        waits_(graph.context().waits) {}

  /// True if one of the rules behind a resolved link finds `source`, or something after it on its
  /// lane, when a task with the new id `waiting` goes by it. `source` is an id of the change.
  [[nodiscard]] bool finds(const Link& link, TaskId source, TaskId waiting) const;

 private:
  const TaskGraph& graph_;
  const Placement& placement_;
  const std::vector<Lane>& lanes_;
  const std::vector<LaneId>& lane_;
  WaitIndex waits_;
};

}  // namespace foretrace::committing
