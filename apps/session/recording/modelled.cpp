#include "apps/session/recording/modelled.h"

#include <memory>

#include "models/jobs/program/graphs/operator_graph.h"
#include "models/jobs/program/ranged_step.h"

namespace foretrace {
Result<Recording> modelled_recording(const Scenario& scenario) {
  FORETRACE_TRY(check_ranks_alike(scenario).with_context(scenario.path));
  FORETRACE_TRY(const RankProgram program, build_program(scenario.job));
  FORETRACE_TRY(const RangedStep range, ranged_step(scenario.job, program));
  Recording recording;
  recording.path = scenario.path;
  FORETRACE_TRY(
      recording.built.graph,
      operator_graph(scenario.job, program, scenario.model->name).with_context(scenario.path));
  recording.built.recorded_start_ns.assign(recording.built.graph.size(), -1);
  recording.accelerator = scenario.cluster->accelerator;
  recording.modelled = std::make_shared<const ModelledStep>(
      ModelledStep{std::make_shared<const Scenario>(scenario), range});
  return recording;
}

}  // namespace foretrace
