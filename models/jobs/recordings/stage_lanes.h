// The graph of a spread run while it is written, and the lanes of one of its stages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/graph/graph_builder.h"

namespace foretrace {

/// A run in the making: tasks in program order, with the bounds of their times.
struct SpreadDraft {
  GraphBuilder builder;
  std::vector<float> low;  ///< per task, factor of its duration
  std::vector<float> high;

  TaskId add(const TaskSpec& task, float lowest, float highest) {
    low.push_back(lowest);
    high.push_back(highest);
    return builder.add_task(task);
  }
};

/// Stage 0 is the recorded rank; the others have the same threads and streams on ranks behind it.
class StageLanes {
 public:
  StageLanes(GraphBuilder& builder, std::uint32_t stage) : builder_(builder), stage_(stage) {}

  [[nodiscard]] LaneId of(LaneId recorded) {
    if (stage_ == 0 || recorded == none<LaneId>) return recorded;
    const auto known = lanes_.find(recorded);
    if (known != lanes_.end()) return known->second;
    Lane lane = builder_.context().lanes[index(recorded)];
    lane.rank += static_cast<std::int32_t>(stage_);
    return lanes_.emplace(recorded, builder_.add_lane(std::move(lane))).first->second;
  }
  /// A stream of its own for what goes over the network, beside one of the stage's.
  [[nodiscard]] LaneId network(const std::string& name, LaneId beside) {
    const auto known = networks_.find(name);
    if (known != networks_.end()) return known->second;
    Lane lane = builder_.context().lanes[index(beside)];
    std::int64_t last = 0;
    for (const Lane& other : builder_.context().lanes) last = std::max(last, other.number);
    lane.name = name;
    lane.number = last + 1;
    return networks_.emplace(name, builder_.add_lane(std::move(lane))).first->second;
  }
  [[nodiscard]] std::int32_t rank(std::int32_t recorded) const {
    return recorded + static_cast<std::int32_t>(stage_);
  }

 private:
  GraphBuilder& builder_;
  std::uint32_t stage_;
  std::map<LaneId, LaneId> lanes_;
  std::map<std::string, LaneId> networks_;
};

}  // namespace foretrace
