// The answer to a scenario: step time with range, where it goes, memory, and its timeline.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/driver/plan/scenario.h"
#include "models/program/estimate.h"
#include "sim/core/result.h"
#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace::driver {

struct ScenarioAnswer {
  Estimate analytic;
  RangedStep range;
  std::int64_t step_ns = 0;  ///< of the event-driven simulation
  TaskGraph graph;
  Timeline timeline;
  double parameters = 0;         ///< of the model
  double model_flops = 0;        ///< of a step, without recomputation
  double flops_utilization = 0;  ///< MFU, against the dense peak of the precision of products
  double tokens_per_s = 0;
  double cost_per_million_tokens = 0;  ///< 0: the cluster has no price
  std::size_t fullest_stage = 0;
  bool fits = true;  ///< every stage in the memory of a device

  [[nodiscard]] const StageMemory& fullest() const { return analytic.memory[fullest_stage]; }
};

/// Floating-point operations of a step that the model needs: products forward and backward, and
/// attention as if it saw all pairs, as papers count them.
[[nodiscard]] double model_flops(const Job& job);
/// Dense FLOPs per second of one accelerator, in the precision of the job's products.
[[nodiscard]] double peak_flops(const Job& job);
/// Parameters of the model; tied tables count once.
[[nodiscard]] double model_parameters(const Job& job);

[[nodiscard]] Result<ScenarioAnswer> answer_scenario(const Scenario& scenario);

}  // namespace foretrace::driver
