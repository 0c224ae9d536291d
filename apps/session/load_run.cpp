#include "apps/session/load_run.h"

#include <memory>
#include <utility>

#include "apps/session/changed_job.h"
#include "apps/session/recording/modelled.h"

namespace foretrace {

namespace {

/// The changed run, to be asked about as any other.
Recording recording_of(const Answer& answer, const Scenario& scenario) {
  Recording recording = answer.session().recording();
  recording.built.graph = answer.graph();
  recording.built.recorded_start_ns.assign(answer.graph().size(), -1);
  recording.accelerator = answer.prediction().accelerator;
  RangedStep range;
  range.step_ns = answer.step_ns();
  range.low_ns = answer.low_ns();
  range.high_ns = answer.high_ns();
  recording.modelled = std::make_shared<const ModelledStep>(
      ModelledStep{std::make_shared<const Scenario>(scenario), range});
  return recording;
}

}  // namespace

Result<Answer> answer_what_ifs(const Scenario& scenario, const CataloguePtr& known) {
  FORETRACE_TRY(const auto stack, what_ifs_of(scenario));
  Scenario plain = scenario;
  plain.what_ifs.clear();
  FORETRACE_TRY(auto recording, modelled_recording(plain));
  recording.known = known;
  FORETRACE_TRY(const auto session, Session::of(std::move(recording)));
  return session.ask(stack);
}

Result<Recording> load_run(std::span<const std::string> inputs, const LoadOptions& options) {
  if (inputs.size() != 1 || !is_scenario_file(inputs.front())) return load_inputs(inputs, options);
  const CataloguePtr& known = options.catalogue;
  FORETRACE_TRY(const Scenario scenario,
                read_scenario(known ? *known : no_catalogue(), inputs.front()));
  if (scenario.what_ifs.empty()) {
    FORETRACE_TRY(auto recording, modelled_recording(scenario));
    recording.known = known;
    return recording;
  }
  FORETRACE_TRY(const auto answer, answer_what_ifs(scenario, known));
  return recording_of(answer, scenario);
}

}  // namespace foretrace
