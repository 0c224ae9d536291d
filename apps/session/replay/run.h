// A simulated graph and the answer it gives.
#pragma once

#include <cstdint>

#include "sim/core/result.h"
#include "sim/graph/change.h"
#include "sim/graph/task_graph.h"
#include "sim/result/steps/steps.h"
#include "sim/result/timeline.h"

namespace foretrace {

enum class Engine : std::uint8_t {
  pull,  ///< one pass in order; exact where the order of launches is fixed
  event  ///< event queue; order may follow priority and readiness
};

/// What becomes of a what-if that leaves every time and tensor as it is, such as a factor of 1.
enum class Neutral : std::uint8_t {
  keep,   ///< an answer: the run as it was recorded
  refuse  ///< ErrorCode::no_match: of no use to who looks for a gain
};

struct RunOptions {
  Engine engine = Engine::pull;
  StepChoice step;
  Checks checks = default_checks();  ///< of the graphs that what-ifs make
  Neutral neutral = Neutral::keep;
};

struct Run {
  Timeline timeline;
  bool is_pulled = false;  ///< by the pull engine: one pass in order gives these times
  StepTimes steps;
  StepAnswer answer;
};
[[nodiscard]] Result<Run> simulate_run(const TaskGraph& graph, const RunOptions& options = {});

}  // namespace foretrace
