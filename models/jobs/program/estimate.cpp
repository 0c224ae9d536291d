#include "models/jobs/program/estimate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "models/jobs/program/left_over.h"
#include "models/jobs/schedules/execution.h"
#include "models/jobs/times/evidence.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

// Micro-batches of one stage, without waiting for others.
PassTime stage_pass(const Job& job, const RankProgram& program, std::uint32_t stage) {
  const RankProgram::Step& step = program.step;
  const ScheduleShape& shape = step.times.shape;
  PassTime sum;
  for (std::uint32_t chunk = 0; chunk < job.chunks; ++chunk) {
    const auto position = position_of(*job.schedule, shape, stage, chunk);
    sum.add(step.forward[position], shape.micro_batches);
    sum.add(step.backward[position], shape.micro_batches);
    if (!job.schedule->splits_backward) continue;
    for (const BlockRun& run : step.position(position)) {
      sum.add((*program.blocks)[run.block].weights.time,
              static_cast<double>(run.count) * shape.micro_batches);
    }
  }
  return sum;
}

// What stage_pass() says in total, in the whole ns that the schedule runs.
std::int64_t stage_ns(const Job& job, const PipelineTimes& times, std::uint32_t stage) {
  std::int64_t ns = 0;
  for (std::uint32_t chunk = 0; chunk < job.chunks; ++chunk) {
    const auto position = position_of(*job.schedule, times.shape, stage, chunk);
    ns += times.forward[position] + times.backward[position];
    if (job.schedule->splits_backward) ns += times.weights[position];
  }
  return ns * times.shape.micro_batches;
}

struct StepEnd {
  std::int64_t gradients = 0;  ///< from the end of the pipeline
  std::int64_t parameters = 0;
  std::int64_t update = 0;
  [[nodiscard]] std::int64_t total() const { return gradients + parameters + update; }
};

// A stage may reduce its gradients as soon as its own passes are over; all meet before the update
// (norm of the gradients).
StepEnd step_end(const std::vector<RankProgram::Stage>& stages, const Executed& passes) {
  StepEnd end;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const RankProgram::Stage& stage = stages[i];
    const std::int64_t early = passes.makespan_ns - passes.stage_end_ns[i];
    end.gradients = std::max(end.gradients, stage.gradients - early);
    if (stage.update + stage.parameters > end.update + end.parameters) {
      end.update = stage.update;
      end.parameters = stage.parameters;
    }
  }
  return end;
}

Status check_memory(const std::vector<StageMemory>& stages) {
  const auto too_large = std::find_if_not(
      stages.begin(), stages.end(), [](const StageMemory& one) { return fits_whole(one.total()); });
  if (too_large == stages.end()) return ok_status();
  return Error{ErrorCode::bad_config,
               fmt::format("a step: got {:.2g} bytes on a rank, expected at most {:.2g}: model, "
                           "batch or sequence are too large",
                           too_large->total(), static_cast<double>(most_whole))};
}

}  // namespace

double StepBreakdown::total() const {
  return std::accumulate(computed.begin(), computed.end(), 0.0) +
         std::accumulate(exposed.begin(), exposed.end(), 0.0) + bubble + optimizer + host;
}

Result<Estimate> estimate(const Job& job) {
  FORETRACE_TRY(const auto program, build_program(job));
  return estimate(job, program);
}

Result<Estimate> estimate(const Job& job, const RankProgram& program, Passes passes_are) {
  const PipelineTimes& times = program.step.times;
  Estimate result;
  result.times = times;
  const Executed passes = finished(*job.schedule, times, passes_are);
  result.pipeline_ns = passes.makespan_ns;
  const StepEnd end = step_end(program.step.stages, passes);
  result.step_ns = result.pipeline_ns + end.total();

  std::uint32_t longest = 0;
  std::int64_t most = 0;
  for (std::uint32_t stage = 0; stage < job.plan.pipeline; ++stage) {
    const std::int64_t ns = stage_ns(job, times, stage);
    if (ns > most) {
      most = ns;
      longest = stage;
    }
  }
  // Its parts add up to the whole ns of its passes, which the schedule runs.
  const PassTime exact = stage_pass(job, program, longest);
  PassTime slowest;
  slowest.add(exact, exact.total > 0 ? static_cast<double>(most) / exact.total : 0);
  StepBreakdown& breakdown = result.breakdown;
  breakdown.computed = slowest.computed;
  breakdown.exposed = slowest.exposed;
  breakdown.exposed[static_cast<std::size_t>(Axis::data)] +=
      static_cast<double>(end.gradients + end.parameters);
  breakdown.optimizer = static_cast<double>(end.update);
  breakdown.host = slowest.host_bound;
  breakdown.bubble = left_over(static_cast<double>(result.step_ns), breakdown.total());
  result.by_provenance = slowest.by_provenance;
  result.again_ns = slowest.again;
  result.overlapped_ns = slowest.overlapped;
  result.memory = stage_memory(job, program);
  FORETRACE_TRY(check_memory(result.memory));
  return result;
}

namespace {

/// How much shorter and longer all sources make the step together.
struct Sides {
  double below = 0;
  double above = 0;
};

Sides together(const RangedStep& range) {
  double below = 0;
  double above = 0;
  for (const auto& sides : range.change) {
    for (const double change : sides) (change < 0 ? below : above) += change * change;
  }
  return {std::sqrt(below), std::sqrt(above)};
}

void combine_changes(RangedStep& range) {
  const auto base = static_cast<double>(range.step_ns);
  const Sides sides = together(range);
  range.low_ns = to_whole(std::max(0.0, base - sides.below));
  range.high_ns = to_whole(base + sides.above);
}

Status check_range(const RangedStep& range) {
  const double longest = static_cast<double>(range.step_ns) + together(range).above;
  if (fits_whole(longest)) return ok_status();
  return Error{ErrorCode::bad_config,
               fmt::format("a step: got up to {:.2g} ns, expected at most {:.2g}: model, batch or "
                           "sequence are too large",
                           longest, static_cast<double>(most_whole))};
}

/// Of independent errors: what is missing to `whole`.
double missing(double part, double whole) {
  return std::sqrt(std::max(0.0, whole * whole - part * part));
}

/// Makes the sources add up to what was measured of steps like this one.
void rest_on_evidence(const Job& job, RangedStep& range) {
  const auto evidence = evidence_range(*job.framework, measured_kind(*job.model, job.pass),
                                       job.cluster->accelerator.name, job.ranks());
  if (!evidence) return;
  const auto base = static_cast<double>(range.step_ns);
  const Sides measured{base * (1 - evidence->factor.low), base * (evidence->factor.high - 1)};
  const Sides sources = together(range);
  for (auto& sides : range.change) {
    for (double& change : sides) {
      const double has = change < 0 ? sources.below : sources.above;
      const double may = change < 0 ? measured.below : measured.above;
      if (has > may) change *= may / has;
    }
  }
  range.change[static_cast<std::size_t>(CostSource::framework)] = {
      -missing(sources.below, measured.below), missing(sources.above, measured.above)};
  range.basis = evidence->basis;
}

}  // namespace

Result<RangedStep> ranged_step(const Job& job) {
  FORETRACE_TRY(const auto program, build_program(job));
  return ranged_step(job, program);
}

Result<RangedStep> ranged_step(const Job& job, const RankProgram& program) {
  const KernelTimes kernels(*job.cluster, *job.framework, job.precisions);
  FORETRACE_TRY(const auto typical, estimate(job, program));
  RankProgram blocks = program;
  blocks.step = {};
  RangedStep result;
  result.step_ns = typical.step_ns;
  const auto base = static_cast<double>(result.step_ns);
  const bool is_known = kernels.err_together(CostSource::product, CostSource::framework);
  for (std::size_t i = 0; i < cost_source_count; ++i) {
    const auto source = static_cast<CostSource>(i);
    Ranged spread = kernels.spread(source);
    if (source == CostSource::host && job.framework->host_kernel_ns.typical > 0) {
      const Ranged& host = job.framework->host_kernel_ns;
      spread = {1, host.low / host.typical, host.high / host.typical};
    }
    for (std::size_t side = 0; side < 2; ++side) {
      const double factor = side == 0 ? spread.low : spread.high;
      if (factor == 1 || !std::isfinite(factor)) continue;
      SourceScale scale = no_scale();
      for (std::size_t j = 0; j < cost_source_count; ++j) {
        if (kernels.err_together(source, static_cast<CostSource>(j))) scale[j] = factor;
      }
      FORETRACE_TRY(const auto scaled, laid_out(job, timed(job, blocks, scale), scale));
      FORETRACE_TRY(const auto there, estimate(job, scaled));
      result.change[i][side] = static_cast<double>(there.step_ns) - base;
    }
  }
  if (!is_known) rest_on_evidence(job, result);
  FORETRACE_TRY(check_range(result));
  combine_changes(result);
  return result;
}

RangedStep around(RangedStep range, std::int64_t step_ns) {
  if (range.step_ns == step_ns || range.step_ns <= 0) return range;
  const double longer = static_cast<double>(step_ns) / static_cast<double>(range.step_ns);
  range.step_ns = step_ns;
  for (auto& sides : range.change) {
    for (double& change : sides) change *= longer;
  }
  combine_changes(range);
  return range;
}

RangedStep without(RangedStep range, CostSource source) {
  range.change[static_cast<std::size_t>(source)] = {};
  combine_changes(range);
  return range;
}

}  // namespace foretrace
