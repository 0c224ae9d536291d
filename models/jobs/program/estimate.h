// The analytic evaluation of a job: a formula per schedule, collectives and the step's end.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/jobs/program/rank_program.h"
#include "models/jobs/schedules/execution.h"
#include "models/jobs/schedules/schedule.h"

namespace foretrace {

/// What holds the memory of one rank of a stage, in bytes.
struct StageMemory {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;
  /// Kept for backward, of all micro-batches in flight; inference: keys and values of all
  /// sequences.
  double activations = 0;
  double working = 0;   ///< alive while one block is computed: recomputed activations, logits
  double buffers = 0;   ///< collected parameters, what is sent
  double messages = 0;  ///< part of it: what goes from stage to stage
  [[nodiscard]] double total() const {
    return weights + gradients + optimizer + activations + working + buffers;
  }
  friend bool operator==(const StageMemory&, const StageMemory&) = default;
};

/// Where the time of a step goes on the slowest stage, in ns; sums to the step.
struct StepBreakdown {
  std::array<double, cost_source_count> computed{};  ///< kernels by source
  std::array<double, axis_count> exposed{};          ///< collectives that were waited for, by group
  double bubble = 0;                                 ///< waiting for other stages
  double optimizer = 0;
  double host = 0;  ///< the device waits for launches
  [[nodiscard]] double total() const;
  friend bool operator==(const StepBreakdown&, const StepBreakdown&) = default;
};

struct Estimate {
  std::int64_t step_ns = 0;
  std::int64_t pipeline_ns = 0;  ///< of it: all micro-batches
  StepBreakdown breakdown;
  std::array<double, provenance_count> by_provenance{};  ///< of computed and exposed time
  double again_ns = 0;              ///< recomputation, part of computed and exposed
  double overlapped_ns = 0;         ///< collectives beside kernels
  std::vector<StageMemory> memory;  ///< per stage
  PipelineTimes times;
  friend bool operator==(const Estimate&, const Estimate&) = default;
};

/// Of a program with its step. Error: time or memory is more than whole
/// numbers hold.
[[nodiscard]] Result<Estimate> estimate(const Job& job, const RankProgram& program,
                                        Passes passes = Passes::by_formula);
/// Builds its program, too.
[[nodiscard]] Result<Estimate> estimate(const Job& job);

/// Memory of one rank of every stage.
[[nodiscard]] std::vector<StageMemory> stage_memory(const Job& job, const RankProgram& program);

}  // namespace foretrace
