// Stages that are not alike: layers and ranks of each by the two levels of Alpa (Zheng et al., OSDI
// 2022). Inside a stage its ranks divide batch, products and states; a dynamic program cuts the
// model into stages; what it finds is simulated as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/jobs/program/estimate.h"
#include "models/jobs/program/job_figures.h"
#include "models/jobs/scenario/scenario.h"
#include "sim/core/result.h"

namespace foretrace {

/// `scenario` says model, cluster, framework, precision and length; its plan does not matter.
struct StageQuestion {
  Scenario scenario;
  std::uint32_t gpus = 1;
  double global_batch = 1;  ///< sequences per step
  std::size_t keep = 5;
};

struct StagedPlan {
  Scenario scenario;
  std::int64_t bound_ns = 0;  ///< sum + (micro-batches - 1) x slowest stage; 0: not by the program
  bool is_even = false;       ///< stages are alike
  std::int64_t step_ns = 0;   ///< simulated
  StepBreakdown breakdown;
  std::vector<std::int64_t> stage_ns;  ///< forward and backward of one micro-batch
  std::vector<StageMemory> memory;     ///< of a rank, per stage
  std::size_t fullest = 0;
  JobFigures figures;
};

struct StageAnswer {
  std::uint32_t gpus = 1;
  double global_batch = 1;
  std::uint32_t units = 0;         ///< pieces of the model that are not cut
  std::size_t options = 0;         ///< ways to run some layers on some ranks that were timed
  std::size_t partitions = 0;      ///< that the dynamic program gave
  std::vector<StagedPlan> best;    ///< the fastest first; empty: nothing fits
  std::optional<StagedPlan> even;  ///< the best plan of equal stages
};

/// Micro-batches of powers of two, pieces of at most 32, 1F1B. Errors: as search_plans().
[[nodiscard]] Result<StageAnswer> search_stages(const StageQuestion& question);

}  // namespace foretrace
