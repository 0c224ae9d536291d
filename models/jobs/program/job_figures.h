// What a step of a job amounts to: utilization, tokens per second, cost, the stage with most
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/jobs/program/estimate.h"
#include "models/jobs/program/job.h"
#include "sim/core/result.h"

namespace foretrace {

/// Floating-point operations of a step that the model needs: products forward and backward, and
/// attention of the pairs that masks and windows leave. Papers that count all pairs find more.
[[nodiscard]] double model_flops(const Job& job);
/// Dense FLOPs per second of one accelerator, in the precision of the job's products.
[[nodiscard]] double peak_flops(const Job& job);
/// Parameters of the model; tied tables count once.
[[nodiscard]] double model_parameters(const Job& job);

/// What one forward pass of one sequence amounts to.
struct ModelAmounts {
  double parameters = 0;
  double flops = 0;
  double attention_flops = 0;  ///< of them, in fused attention
  double moved_bytes = 0;      ///< by kernels that only move numbers
  friend bool operator==(const ModelAmounts&, const ModelAmounts&) = default;
};
[[nodiscard]] ModelAmounts amounts_of(const Job& job);
/// The job without what amounts_of() does not depend on: jobs for which it is equal share them. As
/// with job_of_blocks() a new member of jobs is part of it.
[[nodiscard]] Job job_of_amounts(Job job);
/// What model_flops() gives.
[[nodiscard]] double model_flops(const Job& job, const ModelAmounts& amounts);

/// Error: more parameters than any memory holds, or a step of months at the device's peaks: beyond
/// it times in ns and bytes are no whole numbers any more.
[[nodiscard]] Status check_amounts(const Job& job, const ModelAmounts& amounts);

/// What the operations of a step take at the peaks of the units that they run on; 0: not known.
[[nodiscard]] double least_step_seconds(const Job& job, const ModelAmounts& amounts);
/// False for machines that are no GPU: they take times of their own, beside the peaks of the
/// accelerator's file.
[[nodiscard]] bool keeps_peaks(const Job& job);
/// The same in ns, 0 where peaks are not kept; where a model without experts is served at least what its memory takes to read
/// the weights once.
[[nodiscard]] double least_step_ns(const Job& job, const ModelAmounts& amounts);

struct JobFigures {
  /// MFU: the time that the operations take at the peaks of the units that they run on, over the
  /// step. None: operations or peaks are not known, or those of a machine that is no GPU.
  std::optional<double> flops_utilization;
  double tokens_per_s = 0;             ///< samples where they have no tokens, here and below
  double cost_per_million_tokens = 0;  ///< 0: the cluster has no price
};
/// Of a step that takes `step_ns`.
[[nodiscard]] JobFigures job_figures(const Job& job, std::int64_t step_ns,
                                     const ModelAmounts& amounts);

/// The first of the stages that need most.
[[nodiscard]] std::size_t fullest_stage(std::span<const StageMemory> stages);
/// What it needs; 0 without stages.
[[nodiscard]] double fullest_bytes(std::span<const StageMemory> stages);

}  // namespace foretrace
