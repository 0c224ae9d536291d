#include "apps/session/recording/modelled.h"

#include <memory>
#include <utility>

#include "apps/session/run.h"
#include "models/jobs/program/estimate.h"
#include "models/jobs/program/graphs/operator_graph.h"

namespace foretrace {
namespace {

/// As if the run had been looked at while it ran.
Status observe(trace::BuiltGraph& built) {
  FORETRACE_TRY(const Run run, simulate_run(built.graph));
  built.recorded_start_ns.resize(built.graph.size());
  for (std::size_t i = 0; i < built.graph.size(); ++i) {
    built.recorded_start_ns[i] = run.timeline.start_ns(make_id<TaskId>(i));
  }
  for (std::size_t i = 0; i < run.steps.numbers.size(); ++i) {
    trace::MeasuredStep step;
    step.number = run.steps.numbers[i];
    step.start_ns = run.steps.begin_ns[i];
    step.end_ns = step.start_ns + run.steps.host_ns[i];
    built.steps.push_back(step);
  }
  return ok_status();
}

}  // namespace

Result<Recording> modelled_recording(const Scenario& scenario) {
  FORETRACE_TRY(check_ranks_alike(scenario));
  FORETRACE_TRY(const RankProgram program, build_program(scenario.job));
  FORETRACE_TRY(const RangedStep range, ranged_step(scenario.job, program));
  Recording recording;
  recording.path = scenario.path;
  FORETRACE_TRY(recording.built.graph, operator_graph(scenario.job, program, scenario.model->name));
  FORETRACE_TRY(observe(recording.built));
  recording.accelerator = scenario.cluster->accelerator;
  recording.modelled = std::make_shared<const ModelledStep>(
      ModelledStep{std::make_shared<const Scenario>(scenario), range});
  return recording;
}

Result<Recording> modelled_recording(const std::string& path, const LoadOptions& options) {
  const CataloguePtr& known = options.catalogue;
  FORETRACE_TRY(const Scenario scenario, read_scenario(known ? *known : no_catalogue(), path));
  FORETRACE_TRY(Recording recording, modelled_recording(scenario));
  recording.known = known;
  return recording;
}

}  // namespace foretrace
