// How far the step of a job may be off.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "models/jobs/program/estimate.h"
#include "models/jobs/program/job_figures.h"

namespace foretrace {

/// The step and how far it may be off. Each source at its ends in turn, combined as independent
/// errors; together they are what the evidence says: the framework stands for what they leave, and
/// all are less where they are more.
struct RangedStep {
  std::int64_t step_ns = 0;
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
  /// Per source: change of the step if the source is at its low and its high end.
  std::array<std::array<double, 2>, cost_source_count> change{};
  std::string basis = {};  ///< in words; empty: sources alone
  /// What the units need at their peaks (least_step_ns()): no end of the range is below it.
  double least_ns = 0;
};
/// Error: as of estimate(), also at an end.
[[nodiscard]] Result<RangedStep> ranged_step(const Job& job, const RankProgram& program,
                                             const ModelAmounts& amounts);
[[nodiscard]] Result<RangedStep> ranged_step(const Job& job, const RankProgram& program);
[[nodiscard]] Result<RangedStep> ranged_step(const Job& job);
/// The same range around a step that is known better than by the formula: it grows with the step.
[[nodiscard]] RangedStep around(RangedStep range, std::int64_t step_ns);
/// As if nothing were wrong with this source: for comparing runs that it is the same in.
[[nodiscard]] RangedStep without(RangedStep range, CostSource source);

}  // namespace foretrace
