#include "tests/validation/maps/generation.h"

#include <algorithm>
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

struct Asked {
  Scenario scenario;
  GenerationRequest request;
};

Result<Asked> asked_of(const ConfigValue& run, TableInputs& inputs) {
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
  FORETRACE_TRY(auto scenario, served_scenario(*served, inputs));
  return Asked{std::move(scenario), request};
}

}  // namespace

Result<GenerationTime> predict_generation(const ConfigValue& run, TableInputs& inputs) {
  FORETRACE_TRY(const auto asked, asked_of(run, inputs));
  return time_generation(asked.scenario, asked.request);
}

Result<Scenario> scenario_of_sequences(const ConfigValue& run, TableInputs& inputs) {
  FORETRACE_TRY(auto asked, asked_of(run, inputs));
  asked.scenario.job.pass = Pass::prefill;
  asked.scenario.job.length = asked.scenario.job.keys = asked.request.prompt;
  return complete_scenario(std::move(asked.scenario));
}

Result<Law> law_of_sequences(const ConfigValue& run, std::string_view is, TableInputs& inputs) {
  FORETRACE_TRY(const auto asked, asked_of(run, inputs));
  const GenerationRequest& request = asked.request;
  FORETRACE_TRY(const auto scenario, scenario_of_sequences(run, inputs));
  const Law prompt = prompt_law(scenario, request.sequences * request.prompt);
  if (is == "prompt") return prompt;
  // Some may wait for memory: keys of one sequence are read at least.
  const Law token = reading_law(scenario, 1, request.prompt);
  if (is == "token") return token;
  return Law{token.says, token.least * std::max(0.0, request.output - 1) + prompt.least};
}

}  // namespace foretrace::validation
