// What the forward adjacency leaves out: points that decide whether an overflow dependency counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/graph/task_graph.h"

namespace foretrace::engine {

/// `task` can be judged only when the late_after point of one of its dependencies is known.
struct LateEdge {
  Point source = no_point;
  TaskId task{};
};

enum class LateEdgeScope : std::uint8_t {
  off_lane,  ///< only points that are not known anyway because the task follows them on its lane
  all,       ///< for engines that may not keep the order of a lane
};

class LateEdges {
 public:
  LateEdges(const Topology& topology, LateEdgeScope scope) {
    for (const OverflowDependency& overflow : topology.overflow) {
      if (overflow.late_after == no_point) {
        continue;
      }
      const Point lane = topology.sources[index(overflow.task)][lane_slot];
      const TaskId source = task_of(overflow.late_after);
      if (scope == LateEdgeScope::all || lane == no_point || task_of(lane) != source) {
        edges_.push_back({overflow.late_after, overflow.task});
      }
    }
    std::stable_sort(edges_.begin(), edges_.end(), [](const LateEdge& a, const LateEdge& b) {
      return task_of(a.source) < task_of(b.source);
    });
  }
  [[nodiscard]] std::span<const LateEdge> edges() const { return edges_; }
  /// Tasks that wait for a point of `source`, one entry per dependency.
  [[nodiscard]] std::span<const LateEdge> of(TaskId source) const {
    if (edges_.empty()) {
      return {};
    }
    const auto first =
        std::lower_bound(edges_.begin(), edges_.end(), source,
                         [](const LateEdge& edge, TaskId id) { return task_of(edge.source) < id; });
    auto last = first;
    while (last != edges_.end() && task_of(last->source) == source) {
      ++last;
    }
    return {first, last};
  }

 private:
  std::vector<LateEdge> edges_;
};

}  // namespace foretrace::engine
