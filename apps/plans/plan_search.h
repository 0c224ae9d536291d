// The plans of a model on a cluster, the fastest first, and why the others lose: groups of powers
// of two, pipelines of any number of stages, micro-batches up to 64. The formula of a schedule says
// which plans may be the fastest of their grid; these are simulated, and the simulated steps rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/jobs/program/estimate.h"
#include "models/jobs/program/job_figures.h"
#include "models/jobs/scenario/scenario.h"
#include "sim/core/result.h"

namespace foretrace {

/// `scenario` says model, cluster, framework, precision and length; its plan does not matter.
struct PlanQuestion {
  Scenario scenario;
  std::uint32_t gpus = 1;
  double global_batch = 1;  ///< sequences per step
  std::size_t keep = 5;     ///< plans that are kept, of different grids
};

/// One way to run the job.
struct PlanChoice {
  Job job;  ///< its pointers live as long as the answer
  Recompute recompute = Recompute::none;
  std::int64_t step_ns = 0;     ///< simulated
  std::int64_t formula_ns = 0;  ///< by the formula of the schedule
  std::int64_t low_ns = 0;      ///< 0: not asked for
  std::int64_t high_ns = 0;
  StepBreakdown breakdown;
  double again_ns = 0;      ///< recomputation
  double memory_bytes = 0;  ///< of the fullest stage
  double memory_low = 0;    ///< what was measured may lie between; 0: not asked for
  double memory_high = 0;
  std::size_t fullest_stage = 0;
  JobFigures figures;

  /// How far memory may be off, as the scenario of the plan says it.
  void add_memory_range();
};

/// A grid (tensor, pipeline, context, expert) whose best plan loses, and to what.
struct LosingGrid {
  PlanChoice choice;
  bool fits = true;
  std::string why;
};

struct PlanAnswer {
  std::uint32_t gpus = 1;
  double global_batch = 1;
  std::size_t tried = 0;         ///< plans whose step was estimated
  std::size_t simulated = 0;     ///< of them
  std::size_t too_large = 0;     ///< of them: do not fit into memory
  std::vector<PlanChoice> best;  ///< empty: nothing fits
  std::vector<LosingGrid> losing;
  std::vector<std::shared_ptr<const ModelSpec>> models;  ///< that jobs point to, as to these
  std::shared_ptr<const Cluster> cluster;
  std::shared_ptr<const Framework> framework;
  /// What ranges of steps are based on, in words; empty: on sources alone.
  std::string range_basis;
  bool is_measured = false;  ///< else the range is that of a new framework
  /// Whose steps of such models were measured on this accelerator, the best known first.
  std::vector<std::string> measured_frameworks;

  void rest_on_evidence(const Scenario& scenario);
};

/// Errors: a size that no plan has. A job that fits nowhere is an answer without plans.
[[nodiscard]] Result<PlanAnswer> search_plans(const PlanQuestion& question);

/// Sequences per step that most users would take: 4 Mi tokens, at least one per device, and a
/// multiple of the devices. Samples of a layered model: 256 per device.
[[nodiscard]] double usual_batch(const TransformerSpec& model, double length, std::uint32_t gpus);

/// Layers of each stage, and its ranks where it has its own: "7 dp 2+9 tp 4 zero 1".
[[nodiscard]] std::string stages_text(const Job& job);
/// "data 2, tensor 8 with sequence, pipeline 4 in 2 chunks".
[[nodiscard]] std::string plan_text(const Job& job);
/// The same for a narrow column: "dp 2 tp 8 pp 4x2 zero 1".
[[nodiscard]] std::string short_plan_text(const Job& job);

}  // namespace foretrace
