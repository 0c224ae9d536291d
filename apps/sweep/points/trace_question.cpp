#include "apps/sweep/points/trace_question.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "apps/sweep/space/sweep.h"
#include "models/jobs/scenario/scenario_files.h"

namespace foretrace::sweeping {
namespace {

constexpr std::array<std::string_view, 2> engines = {"pull", "event"};

std::string key_of(const WhatIf& what_if) {
  std::string key(what_if.info->name);
  for (const auto& [name, text] : what_if.parameters.texts()) {
    key += fmt::format("\n{}={}", name, text);
  }
  return key;
}

void read_traces(ConfigFields& fields, const std::string& folder,
                 std::vector<std::string>& traces) {
  const ConfigValue* value = fields.optional_value("trace");
  if (value != nullptr && value->kind == ConfigValue::Kind::text) {
    traces.push_back(beside(folder, value->text));
    return;
  }
  fields.texts("trace", traces);
  for (std::string& trace : traces) trace = beside(folder, trace);
  if (traces.empty()) fields.mistake("trace", "expected a file, or a list of the ranks' files");
}

void set_stack(const std::vector<WhatIf>& stack, TraceQuestion& question) {
  question.stack = in_order(stack);
  for (const WhatIf& what_if : question.stack) question.keys.push_back(key_of(what_if));
}

Result<TraceQuestion> read_question_of_trace(const ConfigValue& document,
                                             const std::string& folder) {
  TraceQuestion question;
  ConfigFields fields(document, "point");
  read_traces(fields, folder, question.traces);
  std::vector<WhatIfSpec> specs;
  if (const ConfigValue* apply = fields.optional_value("apply")) {
    fields.take(add_what_ifs(*apply, "point", "/apply", specs));
  }
  std::string accelerator;
  fields.optional_text("accelerator", accelerator);
  if (!accelerator.empty()) specs.push_back(swap_to(accelerator));
  std::string step = "median";
  const ConfigValue* given = fields.optional_value("step");
  if (given != nullptr) step = given->text;
  if (auto choice = parse_step_choice(step); choice.ok()) {
    question.options.step = *choice;
  } else {
    fields.mistake("step", choice.error().message);
  }
  if (fields.has("engine")) {
    const auto engine = fields.word("engine", engines);
    question.options.engine = engine == 1 ? Engine::event : Engine::pull;
  }
  FORETRACE_TRY(fields.finish());
  FORETRACE_TRY(auto stack, check_stack(specs));
  set_stack(stack, question);
  return question;
}

}  // namespace

Result<TraceQuestion> read_question(const ConfigValue& document, const std::string& folder) {
  ConfigValue placed = document;
  place_files(placed, [&](const std::string& name) { return beside(folder, name); });
  FORETRACE_TRY(auto scenario, trace_scenario_of(placed, "point"));
  if (!scenario.has_value()) return read_question_of_trace(document, folder);
  TraceQuestion question;
  question.scenario = *std::move(scenario);
  question.traces = {question.scenario->trace};
  return question;
}

Status complete_stack(const Recording& recording, const Catalogue& catalogue,
                      TraceQuestion& question) {
  if (!question.scenario.has_value()) return ok_status();
  FORETRACE_TRY(const auto stack, spread_stack(recording, catalogue, *question.scenario));
  set_stack(stack, question);
  return ok_status();
}

}  // namespace foretrace::sweeping
