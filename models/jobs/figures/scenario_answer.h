// The answer to a scenario: step time with range, where it goes, memory, and its timeline.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/hardware/catalogue/evidence.h"
#include "models/jobs/figures/device_memory.h"
#include "models/jobs/program/estimate.h"
#include "models/jobs/program/job_figures.h"
#include "models/jobs/program/ranged_step.h"
#include "models/jobs/scenario/scenario.h"
#include "sim/core/result.h"
#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace {

struct ScenarioAnswer {
  Estimate analytic;
  RangedStep range;
  std::int64_t step_ns = 0;   ///< simulated
  std::int64_t alike_ns = 0;  ///< the same without jitter
  TaskGraph graph;
  Timeline timeline;
  double parameters = 0;   ///< of the model
  double model_flops = 0;  ///< of a step, without recomputation
  JobFigures figures;
  std::size_t fullest_stage = 0;
  bool fits = true;                    ///< every stage in the memories of a device
  std::vector<DeviceMemory> memories;  ///< of the fullest stage
  RankProgram program;
  /// How far memory may be off; nothing where none of steps like this one was measured.
  std::optional<EvidenceRange> memory_range;

  /// The formula of the schedule leaves nothing out here, jitter aside.
  [[nodiscard]] bool formula_is_exact() const { return analytic.step_ns == alike_ns; }
  [[nodiscard]] const StageMemory& fullest() const { return analytic.memory[fullest_stage]; }
};

/// Throws BrokenLaw rather than an answer that cannot be.
[[nodiscard]] Result<ScenarioAnswer> answer_scenario(const Scenario& scenario);

}  // namespace foretrace
