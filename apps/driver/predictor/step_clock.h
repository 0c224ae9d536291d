// The steps of one recorded rank, again and again: what does not change with times is laid out
// once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "apps/driver/steps.h"
#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace {

/// Gives what driver::simulated_steps() gives, for graphs of one rank whose streams keep their
/// order and whose collectives are single tasks.
class StepClock {
 public:
  /// None if the graph is of another kind.
  [[nodiscard]] static std::optional<StepClock> of(const TaskGraph& graph);
  /// Times of the same topology; `segment_ns` are its weights. Fills `times`, whose memory is
  /// reused.
  void read(const Timeline& timeline, const std::vector<std::int64_t>& segment_ns,
            driver::StepTimes& times) const;

 private:
  struct Operation {
    std::uint32_t task = 0;
    std::int32_t step = -1;
  };
  struct Stream {
    std::vector<Operation> operations;
  };
  std::vector<Step> steps_;
  std::vector<Stream> streams_;  ///< by lane
};

}  // namespace foretrace
