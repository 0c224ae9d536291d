#include "models/jobs/figures/scenario_answer.h"

#include "models/jobs/figures/scenario_laws.h"
#include "models/jobs/program/graphs/pipeline_graph.h"
#include "models/jobs/program/graphs/unfolded_graph.h"
#include "models/jobs/program/ranged_step.h"
#include "models/jobs/program/stages.h"
#include "models/jobs/times/evidence.h"
#include "sim/engine/event/event_driven.h"
#include "sim/engine/pull/pull.h"

namespace foretrace {

namespace {

/// Stages of ranks that are alike.
Status simulate_stages(const Job& job, ScenarioAnswer& answer) {
  const RankProgram::Step& step = answer.program.step;
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t s = 0; s < job.plan.pipeline; ++s) ranks.push_back(stage_ranks(job, s));
  FORETRACE_TRY(const auto topology,
                pipeline_topology(*job.schedule, step.times.shape, !job.framework->sends_block,
                                  step.times.has_launches(), ranks));
  answer.graph = pipeline_graph(topology, step);
  simulate_event_driven(answer.graph.topology(), answer.graph.weights(), answer.timeline);
  answer.step_ns = answer.alike_ns = answer.timeline.span_ns;
  return ok_status();
}

/// Every rank for itself instead.
Status simulate_ranks(const Job& job, const Jitter& jitter, ScenarioAnswer& answer) {
  FORETRACE_TRY(answer.graph, unfolded_graph(job, answer.program, jitter));
  answer.timeline = simulate(answer.graph);
  answer.step_ns = answer.timeline.span_ns;
  return ok_status();
}

}  // namespace

Result<ScenarioAnswer> answer_scenario(const Scenario& scenario) {
  const Job& job = scenario.job;
  ScenarioAnswer answer;
  FORETRACE_TRY(answer.program, build_program(job).with_context(scenario.path));
  FORETRACE_TRY(answer.analytic, estimate(job, answer.program).with_context(scenario.path));
  FORETRACE_TRY(simulate_stages(job, answer));
  if (scenario.jitter) {
    if (Status status = simulate_ranks(job, *scenario.jitter, answer); !status.ok()) {
      return std::move(status).error().with_context(scenario.path + ": /jitter");
    }
  }
  const ModelAmounts amounts = amounts_of(job);
  FORETRACE_TRY(const auto range,
                ranged_step(job, answer.program, amounts).with_context(scenario.path));
  answer.range = around(range, answer.step_ns);

  answer.parameters = amounts.parameters;
  answer.model_flops = model_flops(job, amounts);
  answer.figures = job_figures(job, answer.step_ns, amounts);
  answer.fullest_stage = fullest_stage(answer.analytic.memory);
  answer.memories = device_memories(job, answer.fullest());
  answer.fits = fits_device(job, answer.analytic.memory);
  if (job.trains()) {
    answer.memory_range = evidence_range(*job.framework, MeasuredKind::memory,
                                         job.cluster->accelerator.name, job.ranks());
  }
  expect_laws(job, answer, amounts);
  return answer;
}

}  // namespace foretrace
