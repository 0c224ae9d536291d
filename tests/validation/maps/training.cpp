#include "tests/validation/maps/training.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "models/jobs/figures/open_choices.h"
#include "sim/core/config_text.h"
#include "tests/validation/studies/row_numbers.h"

namespace foretrace::validation {
namespace {

ConfigValue* member(ConfigValue& object, std::string_view key) {
  const auto at = std::find(object.keys.begin(), object.keys.end(), key);
  return at == object.keys.end()
             ? nullptr
             : &object.items[static_cast<std::size_t>(at - object.keys.begin())];
}

void remove_member(ConfigValue& object, std::string_view key) {
  const auto at = std::find(object.keys.begin(), object.keys.end(), key);
  if (at == object.keys.end()) return;
  object.items.erase(object.items.begin() + (at - object.keys.begin()));
  object.keys.erase(at);
}

/// Tables call models by names of their own; a schedule of one piece per stage is the usual one.
Status in_words_of_scenarios(ConfigValue& document, TableInputs& inputs) {
  ConfigValue* const workload = member(document, "workload");
  ConfigValue* const model = workload == nullptr ? nullptr : member(*workload, "model");
  if (model != nullptr && model->kind == ConfigValue::Kind::text) {
    FORETRACE_TRY(const auto called, inputs.model(model->text));
    model->text = called->name;
  }
  ConfigValue* const schedule = member(document, "schedule");
  if (schedule != nullptr && number_of(schedule->find("chunks")).value_or(1) <= 1) {
    remove_member(document, "schedule");
  }
  return ok_status();
}

std::uint32_t count_at(const ConfigValue* object, std::string_view key, std::uint32_t standard) {
  const auto number = object == nullptr ? std::nullopt : number_of(object->find(key));
  if (!number.has_value() || *number < 1 || *number > most_tokens) return standard;
  return static_cast<std::uint32_t>(*number);
}

/// {"model": {"layers": 12, "vocabulary": 64000}, "cluster": {"nodes": 2, "node_accelerators": 3}}
void change_parts(const ConfigValue& run, Scenario& scenario) {
  if (const ConfigValue* change = run.find("model")) {
    ModelSpec model = *scenario.model;
    TransformerSpec& spec = model.transformer;
    spec.layers = count_at(change, "layers", spec.layers);
    spec.vocabulary = count_at(change, "vocabulary", static_cast<std::uint32_t>(spec.vocabulary));
    scenario.model = std::make_shared<const ModelSpec>(std::move(model));
  }
  if (const ConfigValue* change = run.find("cluster")) {
    Cluster cluster = *scenario.cluster;
    cluster.nodes = count_at(change, "nodes", cluster.nodes);
    cluster.node_accelerators = count_at(change, "node_accelerators", cluster.node_accelerators);
    scenario.cluster = std::make_shared<const Cluster>(std::move(cluster));
  }
}

/// What a row leaves open is what runs fastest within memory: its authors chose it so.
Result<Scenario> with_choices(const Scenario& scenario, const ConfigValue* object) {
  OpenChoices open;
  bool ran = false;
  if (object != nullptr) {
    if (const ConfigValue* list = object->find("recompute")) {
      for (const ConfigValue& one : list->items) {
        open.recomputes.push_back(one.text == "full"        ? Recompute::full
                                  : one.text == "selective" ? Recompute::selective
                                  : one.text == "operators" ? Recompute::operators
                                                            : Recompute::none);
      }
    }
    const ConfigValue* chunks = object->find("chunks");
    for (std::size_t i = 0; chunks != nullptr && i < chunks->items.size(); ++i) {
      if (scenario.job.plan.pipeline <= 1) break;
      open.chunks.push_back(static_cast<std::uint32_t>(number_of(&chunks->items[i]).value_or(1)));
    }
    if (const ConfigValue* list = object->find("micro")) {
      for (const ConfigValue& one : list->items) {
        open.micro_batches.push_back(number_of(&one).value_or(1));
      }
    }
    open.memory_bytes = number_of(object->find("memory_share")).value_or(0) *
                        static_cast<double>(scenario.cluster->accelerator.memory_bytes);
    const ConfigValue* said = object->find("ran");
    ran = said != nullptr && said->text == "true";
  }
  auto best = fastest_choice(scenario, open);
  if (best.ok() || best.error().code != ErrorCode::no_match || !ran) return best;
  open.memory_bytes = 0;
  if (!open.recomputes.empty()) open.recomputes = {open.recomputes.back()};
  return fastest_choice(scenario, open);
}

}  // namespace

Result<StepPrediction> StepPredictor::predict(const ConfigValue& run) {
  std::string text = json_text(run);
  if (text == last_run_) return last_;
  FORETRACE_TRY(const auto scenario, scenario_of(run));
  FORETRACE_TRY(const auto step, predict_row(scenario));
  last_run_ = std::move(text);
  last_ = {step, scenario.job.tokens_per_step()};
  return last_;
}

Result<Scenario> StepPredictor::scenario_of(const ConfigValue& run) {
  const ConfigValue* const given = run.find("scenario");
  if (given == nullptr) return Error{ErrorCode::bad_config, "the map describes no scenario"};
  ConfigValue document = *given;
  FORETRACE_TRY(in_words_of_scenarios(document, inputs_));
  FORETRACE_TRY(auto scenario,
                foretrace::scenario_of(inputs_.catalogue(), document, "scenario", parts_));
  change_parts(run, scenario);
  return with_choices(scenario, run.find("open"));
}

}  // namespace foretrace::validation
