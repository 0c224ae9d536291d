#include "models/jobs/program/estimate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "models/jobs/program/left_over.h"
#include "models/jobs/schedules/execution.h"
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

struct WholeStep {
  std::int64_t pipeline_ns = 0;
  StepEnd end;
  [[nodiscard]] std::int64_t total() const { return pipeline_ns + end.total(); }
};

WholeStep whole_step(const Job& job, const PipelineTimes& times,
                     const std::vector<RankProgram::Stage>& stages, Passes passes_are) {
  const Executed passes = finished(*job.schedule, times, passes_are);
  return {passes.makespan_ns, step_end(stages, passes)};
}

PipelineTimes without_launches(PipelineTimes times) {
  times.launches = {};
  return times;
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
  const std::vector<RankProgram::Stage>& stages = program.step.stages;
  const WholeStep step = whole_step(job, times, stages, passes_are);
  const WholeStep launched =
      times.has_launches() ? whole_step(job, without_launches(times), stages, passes_are) : step;
  result.pipeline_ns = step.pipeline_ns;
  result.step_ns = step.total();

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
      static_cast<double>(launched.end.gradients + launched.end.parameters);
  breakdown.optimizer = static_cast<double>(launched.end.update);
  breakdown.host = slowest.host_waits + slowest.late_calls +
                   static_cast<double>(step.total() - launched.total());
  breakdown.bubble = left_over(static_cast<double>(result.step_ns), breakdown.total());
  result.by_provenance = slowest.by_provenance;
  result.again_ns = slowest.again;
  result.overlapped_ns = slowest.overlapped;
  result.memory = stage_memory(job, program);
  FORETRACE_TRY(check_memory(result.memory));
  return result;
}

}  // namespace foretrace
