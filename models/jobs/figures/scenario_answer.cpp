#include "models/jobs/figures/scenario_answer.h"

#include "models/jobs/program/graphs/pipeline_graph.h"
#include "models/jobs/program/graphs/unfolded_graph.h"
#include "models/jobs/program/stages.h"
#include "sim/engine/event/event_driven.h"
#include "sim/engine/pull/pull.h"

namespace foretrace {

namespace {

/// Stages of ranks that are alike.
Status simulate_stages(const Job& job, ScenarioAnswer& answer) {
  const RankProgram::Step& step = answer.program.step;
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t s = 0; s < job.plan.pipeline; ++s) ranks.push_back(stage_ranks(job, s));
  const auto topology =
      pipeline_topology(*job.schedule, step.times.shape, !job.framework->sends_block, ranks);
  if (!topology.ok()) return topology.error();
  answer.graph = pipeline_graph(*topology, step);
  simulate_event_driven(answer.graph.topology(), answer.graph.weights(), answer.timeline);
  answer.step_ns = answer.alike_ns = answer.timeline.span_ns;
  return ok_status();
}

/// Every rank for itself instead.
Status simulate_ranks(const Job& job, const Jitter& jitter, ScenarioAnswer& answer) {
  auto graph = unfolded_graph(job, answer.program, jitter);
  if (!graph.ok()) return std::move(graph).error();
  answer.graph = *std::move(graph);
  answer.timeline = simulate(answer.graph);
  answer.step_ns = answer.timeline.span_ns;
  return ok_status();
}

}  // namespace

Result<ScenarioAnswer> answer_scenario(const Scenario& scenario) {
  const Job& job = scenario.job;
  ScenarioAnswer answer;
  auto program = build_program(job);
  if (!program.ok()) return std::move(program).error().with_context(scenario.path);
  answer.program = *std::move(program);
  auto analytic = estimate(job, answer.program);
  if (!analytic.ok()) return std::move(analytic).error().with_context(scenario.path);
  answer.analytic = *std::move(analytic);
  if (Status status = simulate_stages(job, answer); !status.ok()) {
    return std::move(status).error();
  }
  if (scenario.jitter) {
    if (Status status = simulate_ranks(job, *scenario.jitter, answer); !status.ok()) {
      return std::move(status).error().with_context(scenario.path + ": /jitter");
    }
  }
  const auto range = ranged_step(job, answer.program);
  if (!range.ok()) return Error(range.error()).with_context(scenario.path);
  answer.range = around(*range, answer.step_ns);

  answer.parameters = model_parameters(job);
  answer.model_flops = model_flops(job);
  answer.figures = job_figures(job, answer.step_ns, answer.model_flops);
  answer.fullest_stage = fullest_stage(answer.analytic.memory);
  answer.memories = device_memories(job, answer.fullest());
  answer.fits = fits_device(job, answer.analytic.memory);
  return answer;
}

}  // namespace foretrace
