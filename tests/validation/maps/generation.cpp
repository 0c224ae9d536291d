#include "tests/validation/maps/generation.h"

#include <string>
#include <utility>

#include "tests/validation/studies/row_numbers.h"

namespace foretrace::validation {
namespace {

Result<Scenario> served_scenario(const ConfigValue& served, TableInputs& inputs) {
  const TruthRow words({}, served);
  RowNumbers numbers(words);
  const double tensor = numbers.count("tensor", most_ranks);
  const double pipeline = numbers.count("pipeline", most_layers);
  FORETRACE_TRY(numbers.status());
  FORETRACE_TRY(auto cluster, inputs.cluster(words.text("cluster")));
  FORETRACE_TRY(auto framework, inputs.framework(words.text("framework")));
  FORETRACE_TRY(auto model, inputs.model(words.text("model")));
  Scenario scenario;
  scenario.path = "table";
  scenario.cluster = std::move(cluster);
  scenario.framework = std::move(framework);
  scenario.model = std::move(model);
  scenario.job.precisions = {Precision::fp16, false};
  ParallelPlan& plan = scenario.job.plan;
  plan.tensor = static_cast<std::uint32_t>(tensor);
  plan.pipeline = static_cast<std::uint32_t>(pipeline);
  // Servers divide every expert, so that no token travels.
  if (scenario.model->transformer.experts.count > 0) plan.expert_tensor = plan.tensor;
  return scenario;
}

}  // namespace

Result<GenerationTime> predict_generation(const ConfigValue& run, TableInputs& inputs) {
  const ConfigValue* const served = run.find("served");
  const ConfigValue* const asked = run.find("request");
  if (served == nullptr || asked == nullptr) {
    return Error{ErrorCode::bad_config, "the map describes no served model, or no request"};
  }
  RowNumbers numbers({{}, *asked});
  GenerationRequest request;
  request.sequences = numbers.count("sequences", most_sequences);
  request.prompt = numbers.count("prompt", most_tokens);
  request.output = numbers.count("output", most_tokens);
  FORETRACE_TRY(numbers.status());
  FORETRACE_TRY(const auto scenario, served_scenario(*served, inputs));
  return time_generation(scenario, request);
}

}  // namespace foretrace::validation
