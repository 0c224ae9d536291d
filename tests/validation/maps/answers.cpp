#include "tests/validation/maps/answers.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include <fmt/format.h>

#include "models/jobs/times/evidence.h"
#include "models/jobs/times/precisions.h"
#include "tests/validation/maps/beside.h"
#include "tests/validation/maps/exchange.h"
#include "tests/validation/maps/generation.h"
#include "tests/validation/maps/layers.h"

namespace foretrace::validation {
namespace {

Figure exactly(double value) { return {value, value, value}; }

Figure rate_of(double amount, const Figure& seconds) {
  return {amount / seconds.value, amount / seconds.high, amount / seconds.low};
}

/// Prompts and tokens of one model on the same devices are one configuration, steps of one length.
MeasuredOf measured_of(const Scenario& scenario, MeasuredKind kind) {
  const Job& job = scenario.job;
  const TransformerSpec& model = *job.model;
  return {.kind = std::string(to_string(kind)),
          .first = scenario.framework->name,
          .second = scenario.cluster->accelerator.name,
          .cell = fmt::format("{} {} {} {} {} {}", scenario.model->name, model.layers, model.hidden,
                              job.ranks(), job.trains() ? job.length : 0, word_of(job.precisions)),
          .ranks = job.ranks()};
}

Result<Answer> of_sequences(const Question& question, TableInputs& inputs) {
  FORETRACE_TRY(const auto time, predict_generation(question.run, inputs));
  const RangedSeconds& s = question.point.is == "prompt"  ? time.prompt
                           : question.point.is == "token" ? time.token
                                                          : time.total;
  Answer answer{.figure = {s.typical, s.low, s.high}};
  // Most of a whole answer is decoding.
  FORETRACE_TRY(const auto scenario, scenario_of_sequences(question.run, inputs));
  answer.of = measured_of(
      scenario, question.point.is == "prompt" ? MeasuredKind::prompts : MeasuredKind::decoding);
  FORETRACE_TRY(answer.law, law_of_sequences(question.run, question.point.is, inputs));
  return answer;
}

Result<Answer> of_operation(const Question& question, TableInputs& inputs) {
  const std::string& is = question.point.is;
  if (is == "beside") {
    FORETRACE_TRY(const auto one,
                  predict_beside(question.run, question.measured, inputs.catalogue()));
    return Answer{.figure = one.us, .is_fitted = one.is_fitted};
  }
  if (is == "collective") {
    FORETRACE_TRY(const auto one, predict_collective(question.run, question.measured, inputs));
    return Answer{.figure = one.us,
                  .group = one.size,
                  .is_fitted = one.is_fitted,
                  .left_out = one.left_out,
                  .law = one.law,
                  .of = one.of};
  }
  FORETRACE_TRY(const auto one, predict_exchange(question.run, is == "exchange_rate", inputs));
  return Answer{.figure = one};
}

std::vector<std::string> operators_of(const ConfigValue& run) {
  std::vector<std::string> names;
  const ConfigValue* const list = run.find("operators");
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    names.push_back(list->items[i].text);
  }
  return names;
}

}  // namespace

Result<Answer> Answers::of_step(const Question& question, MapRow& row) {
  FORETRACE_TRY(const auto step, steps_.predict(question.run));
  FORETRACE_TRY(const auto scenario, steps_.scenario_of(question.run));
  add_numbers(scenario, row.numbers);
  Answer answer{.figure = step.seconds,
                .memory_bytes = step.memory_bytes,
                .device_bytes = static_cast<double>(scenario.cluster->accelerator.memory_bytes)};
  const PointMap& point = question.point;
  answer.of = measured_of(scenario, measured_kind(*scenario.job.model, scenario.job.pass));
  if (point.is == "memory") answer.of.kind = "memory";
  if (point.is == "forward") answer.of.kind.clear();
  if (point.is == "time") answer.law = arithmetic_law(scenario);
  if (point.is == "forward") {
    FORETRACE_TRY(const auto share, forward_share(scenario));
    answer.figure = answer.figure.times(share);
  } else if (point.is == "memory") {
    const auto& job = scenario.job;
    const auto range = evidence_range(*scenario.framework, MeasuredKind::memory,
                                      scenario.cluster->accelerator.name, job.ranks());
    const Ranged factor = range ? range->factor : Ranged{1, 1, 1};
    const double bytes = step.memory_bytes / gib;
    answer.figure = {bytes, bytes * factor.low, bytes * factor.high};
  } else if (point.is == "rate") {
    FORETRACE_TRY(const auto amount, calculate(point.amount, row.numbers));
    answer.figure = rate_of(amount, step.seconds);
    answer.law = arithmetic_law(scenario).as_rate(amount);
  }
  return answer;
}

Result<Answer> Answers::of_layers(const Question& question) {
  FORETRACE_TRY(const auto scenario, steps_.scenario_of(question.run));
  const std::string& is = question.point.is;
  if (is == "operators") {
    FORETRACE_TRY(const auto time, operators_time(scenario, operators_of(question.run)));
    return Answer{.figure = time};
  }
  if (is == "states" || is == "activations") {
    FORETRACE_TRY(const auto held, layers_memory(scenario));
    return Answer{.figure = exactly(is == "states" ? held.states : held.activations)};
  }
  FORETRACE_TRY(const auto time,
                layer_time(scenario, is != "layer_backward", is != "layer_forward"));
  return Answer{.figure = time};
}

Result<Answer> Answers::of(const Question& question, MapRow& row) {
  const std::string& is = question.point.is;
  const auto is_one_of = [&is](std::initializer_list<std::string_view> kinds) {
    return std::find(kinds.begin(), kinds.end(), is) != kinds.end();
  };
  if (is_one_of({"time", "rate", "memory", "forward"})) return of_step(question, row);
  if (is_one_of({"prompt", "token", "total"})) return of_sequences(question, inputs_);
  if (is_one_of({"collective", "exchange", "exchange_rate", "beside"})) {
    return of_operation(question, inputs_);
  }
  if (!is.starts_with("served_")) return of_layers(question);
  FORETRACE_TRY(const auto served, served_.predict(question.run, is, question.request));
  Answer answer{.figure = served};
  // Which token a client calls the first, parts a whole answer anew, but makes it no longer.
  if (is == "served_latency") answer.of = served_.measured();
  return answer;
}

}  // namespace foretrace::validation
