#include "apps/driver/plan/scenario_answer.h"

#include "models/program/pipeline_graph.h"
#include "sim/engine/event/event_driven.h"

namespace foretrace::driver {

Result<ScenarioAnswer> answer_scenario(const Scenario& scenario) {
  const Job& job = scenario.job;
  ScenarioAnswer answer;
  const JobBlocks blocks = build_blocks(job);
  answer.analytic = estimate(job, blocks);
  answer.range = ranged_step(job, blocks);
  const StepParts parts = step_parts(job, blocks, time_blocks(job, blocks, no_scale()), no_scale());
  const auto topology =
      pipeline_topology(*job.schedule, parts.times.shape, !job.framework->sends_block,
                        job.plan.ranks() / job.plan.pipeline);
  if (!topology.ok()) return topology.error();
  answer.graph = pipeline_graph(*topology, parts);
  simulate_event_driven(answer.graph.topology(), answer.graph.weights(), answer.timeline);
  answer.step_ns = answer.timeline.span_ns;

  answer.parameters = model_parameters(job);
  answer.model_flops = model_flops(job);
  answer.figures = job_figures(job, answer.step_ns, answer.model_flops);
  answer.fullest_stage = fullest_stage(answer.analytic.memory);
  answer.fits = answer.fullest().total() <= device_bytes(job);
  return answer;
}

}  // namespace foretrace::driver
