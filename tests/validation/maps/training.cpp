#include "tests/validation/maps/training.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/jobs/figures/open_choices.h"
#include "models/jobs/program/estimate.h"
#include "models/jobs/program/job_figures.h"
#include "models/jobs/program/ranged_step.h"
#include "models/jobs/scenario/job_fields.h"
#include "models/jobs/times/evidence.h"
#include "models/jobs/workloads/model_import.h"
#include "sim/core/config_text.h"
#include "tests/validation/maps/table_map.h"
#include "tests/validation/studies/row_numbers.h"

namespace foretrace::validation {
namespace {

void remove_member(ConfigValue& object, std::string_view key) {
  const auto at = std::find(object.keys.begin(), object.keys.end(), key);
  if (at == object.keys.end()) return;
  object.items.erase(object.items.begin() + (at - object.keys.begin()));
  object.keys.erase(at);
}

/// A file of configs with what is different, as text.
Result<std::string> changed_file(const std::string& path, const ConfigValue& change) {
  FORETRACE_TRY(const auto text, read_config_text(path));
  FORETRACE_TRY(auto document, parse_config(text).with_context(path));
  merge_members(document, change);
  return json_text(document);
}

/// 0 layers are as many as the model's file says.
ConfigValue with_own_layers(ConfigValue change) {
  if (number_of(change.find("layers")) == 0) remove_member(change, "layers");
  return change;
}

/// The text of a changed part is its name in scenarios.
template <typename Part, typename Parse>
Status take_changed(ConfigValue* name, const ConfigValue* change, const std::string& folder,
                    NamedParts<Part>& known, Parse parse) {
  if (name == nullptr || change == nullptr) return ok_status();
  const std::string path = fmt::format("{}/{}.json", folder, name->text);
  FORETRACE_TRY(auto text, changed_file(path, *change));
  if (!known.contains(text)) {
    FORETRACE_TRY(auto part, parse(text, path));
    known.emplace(text, std::make_shared<const Part>(std::move(part)));
  }
  name->text = std::move(text);
  return ok_status();
}

/// What a row leaves open is what runs fastest within memory: its authors chose it so.
Result<Scenario> with_choices(const Scenario& scenario, const ConfigValue* object) {
  OpenChoices open;
  bool ran = false;
  if (object != nullptr) {
    if (const ConfigValue* list = object->find("recompute")) {
      for (const ConfigValue& one : list->items) {
        const auto& words = job_fields::recompute_words;
        const auto* const word = std::find(words.begin(), words.end(), one.text);
        if (word != words.end()) {
          open.recomputes.push_back(static_cast<Recompute>(word - words.begin()));
        }
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

Result<StepPrediction> step_of(const Scenario& scenario) {
  FORETRACE_TRY(const auto program, build_program(scenario.job));
  FORETRACE_TRY(const auto answer, estimate(scenario.job, program));
  FORETRACE_TRY(const auto range, ranged_step(scenario.job, program));
  const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-9; };
  return StepPrediction{{seconds(range.step_ns), seconds(range.low_ns), seconds(range.high_ns)},
                        fullest_bytes(answer.memory)};
}

}  // namespace

Status StepPredictor::name_model(const ConfigValue* change, ConfigValue& model) {
  const ConfigValue* const stated = model.find("stated_in");
  if (stated == nullptr && model.kind == ConfigValue::Kind::object) {
    if (change != nullptr) merge_members(model, *change);
    return ok_status();
  }
  if (stated == nullptr) {
    FORETRACE_TRY(const auto called, inputs_.model(model.text));
    model.text = called->name;
    return take_changed(&model, change, inputs_.catalogue().directory() + "/models", parts_.models,
                        parse_model);
  }
  const ConfigValue* const called = model.find("called");
  const ConfigValue* const all = table_.fixed(stated->text);
  const ConfigValue* const one =
      called == nullptr || all == nullptr ? nullptr : all->find(called->text);
  if (one == nullptr) {
    return Error{ErrorCode::not_found,
                 fmt::format("{}: the table does not state this model",
                             called == nullptr ? std::string() : called->text)};
  }
  ConfigValue changed = *one;
  if (change != nullptr) merge_members(changed, *change);
  FORETRACE_TRY(auto spec, model_from_hugging_face(changed, called->text));
  model = {.kind = ConfigValue::Kind::text, .text = json_text(changed), .keys = {}, .items = {}};
  parts_.models[model.text] = std::make_shared<const ModelSpec>(std::move(spec));
  return ok_status();
}

Status StepPredictor::name_parts(const ConfigValue& run, ConfigValue& document) {
  ConfigValue* const workload = find_member(document, "workload");
  ConfigValue* const model = workload == nullptr ? nullptr : find_member(*workload, "model");
  const Catalogue& catalogue = inputs_.catalogue();
  if (const ConfigValue* const change = run.find("model"); model != nullptr) {
    const ConfigValue stated = change == nullptr ? ConfigValue{} : with_own_layers(*change);
    FORETRACE_TRY(name_model(stated.keys.empty() ? nullptr : &stated, *model));
  }
  FORETRACE_TRY(take_changed(find_member(document, "framework"), run.find("framework"),
                             catalogue.directory() + "/frameworks", parts_.frameworks,
                             [&catalogue](const std::string& text, const std::string& path) {
                               return parse_framework(catalogue, text, path);
                             }));
  return take_changed(find_member(document, "cluster"), run.find("cluster"),
                      catalogue.directory() + "/clusters", parts_.clusters,
                      [&catalogue](const std::string& text, const std::string& path) {
                        return parse_cluster(catalogue, text, path);
                      });
}

Result<StepPrediction> StepPredictor::predict(const ConfigValue& run) {
  if (std::string text = json_text(run); text != last_step_run_) {
    last_step_run_ = std::move(text);
    const auto scenario = scenario_of(run);
    last_step_ = scenario.ok() ? step_of(*scenario) : Result<StepPrediction>(scenario.error());
  }
  return last_step_;
}

Result<Scenario> StepPredictor::scenario_of(const ConfigValue& run) {
  if (std::string text = json_text(run); text != last_run_) {
    last_run_ = std::move(text);
    last_ = read(run);
  }
  return last_;
}

Result<Scenario> StepPredictor::read(const ConfigValue& run) {
  const ConfigValue* const given = run.find("scenario");
  if (given == nullptr) return Error{ErrorCode::bad_config, "the map describes no scenario"};
  ConfigValue document = *given;
  // A schedule of one piece per stage is the usual one.
  const ConfigValue* const schedule = find_member(document, "schedule");
  if (schedule != nullptr && number_of(schedule->find("chunks")).value_or(1) <= 1) {
    remove_member(document, "schedule");
  }
  FORETRACE_TRY(name_parts(run, document));
  FORETRACE_TRY(auto scenario,
                foretrace::scenario_of(inputs_.catalogue(), document, "scenario", parts_));
  return with_choices(scenario, run.find("open"));
}

void add_numbers(const Scenario& scenario, Variables& numbers) {
  const TransformerSpec& model = scenario.model->transformer;
  numbers["tokens"] = scenario.job.tokens_per_step();
  numbers["sequences"] = scenario.job.global_batch;
  numbers["model_layers"] = model.layers;
  numbers["model_hidden"] = model.hidden;
  numbers["model_heads"] = model.heads;
  numbers["model_kv_heads"] = model.kv_heads;
  numbers["model_head_size"] = model.head_size;
  numbers["model_ffn"] = model.ffn;
  numbers["model_vocabulary"] = model.vocabulary;
  numbers["model_gated"] = is_gated(model.activation) ? 1 : 0;
}

}  // namespace foretrace::validation
