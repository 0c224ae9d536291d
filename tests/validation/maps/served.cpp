#include "tests/validation/maps/served.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "models/jobs/times/evidence.h"
#include "models/jobs/times/precisions.h"
#include "sim/core/config_text.h"
#include "tests/validation/maps/table_map.h"
#include "tests/validation/studies/row_numbers.h"

namespace foretrace::validation {
namespace {

using Kind = ConfigValue::Kind;

Distribution ServingFigures::*figure_of(std::string_view is) {
  return is == "served_token"         ? &ServingFigures::token_s
         : is == "served_first_token" ? &ServingFigures::first_token_s
                                      : &ServingFigures::latency_s;
}

std::string served_text(const ConfigValue& document, std::string_view key) {
  const ConfigValue* const found = document.find(key);
  return found == nullptr ? std::string() : found->text;
}

Result<StepRules> rules_of(const ConfigValue& document, TableInputs& inputs) {
  const Catalogue& catalogue = inputs.catalogue();
  FORETRACE_TRY(const auto engine, find_serving_engine(catalogue, served_text(document, "engine")));
  if (document.find("accelerator") != nullptr) {
    FORETRACE_TRY(const auto alone, catalogue.accelerator(served_text(document, "accelerator")));
    return engine.rules_on(*alone);
  }
  FORETRACE_TRY(const auto cluster, inputs.cluster(served_text(document, "cluster")));
  return engine.rules_on(cluster->accelerator);
}

/// Who serves prompts without chunks has set the limit of a step so that one fits beside the
/// others.
Result<ConfigValue> with_room(const ConfigValue& document, TableInputs& inputs) {
  const ConfigValue* const requests = document.find("requests");
  const ConfigValue* const made = requests == nullptr ? nullptr : requests->find("generate");
  if (made == nullptr) return document;
  FORETRACE_TRY(const auto rules, rules_of(document, inputs));
  RowNumbers numbers({{}, *made});
  const double longest =
      numbers.count("input_tokens", most_tokens) * (1 + numbers.number_or("spread", 0, 0, 1));
  const double needed = std::ceil(longest) + numbers.count("in_flight", most_requests);
  FORETRACE_TRY(numbers.status());
  if (rules.chunks_prompts || needed <= rules.batched_tokens) return document;
  FORETRACE_TRY(auto steps,
                parse_config(fmt::format(R"({{"steps": {{"batched_tokens": {}}}}})", needed)));
  ConfigValue changed = document;
  merge_members(changed, steps);
  return changed;
}

}  // namespace

Status ServedPredictor::serve(const ConfigValue& run) {
  const ConfigValue* const given = run.find("serving");
  if (given == nullptr) return Error{ErrorCode::bad_config, "the map describes no server"};
  FORETRACE_TRY(const auto model, inputs_.model(served_text(*given, "model")));
  FORETRACE_TRY(auto document, parse_config(fmt::format(R"({{"schema": "{}"}})", serving_schema)));
  merge_members(document, *given);
  find_member(document, "model")->text = model->name;
  FORETRACE_TRY(const auto whole, with_room(document, inputs_));
  FORETRACE_TRY(serving_, parse_serving(inputs_.catalogue(), json_text(whole), "serving"));
  FORETRACE_TRY(answer_, run_serving(serving_));
  if (answer_.done > 0) return ok_status();
  return Error{ErrorCode::no_match, "no request fits in the cache"};
}

Result<Figure> ServedPredictor::predict(const ConfigValue& run, std::string_view is,
                                        std::optional<std::size_t> request) {
  if (std::string text = json_text(run); text != last_run_) {
    last_run_ = std::move(text);
    last_status_ = serve(run);
  }
  if (!last_status_.ok()) return last_status_.error();
  const Ranged mean = answer_.mean(figure_of(is));
  if (!request.has_value()) return Figure{mean.typical, mean.low, mean.high};
  const ServedRequest& served = answer_.service.requests.at(*request);
  const std::int64_t output = serving_.requests.at(*request).output_tokens;
  if (served.end_ns < 0 || output < 2) {
    return Error{ErrorCode::no_match, "one token, or larger than the cache"};
  }
  const double ns = is == "served_token" ? served.token_ns(output)
                    : is == "served_first_token"
                        ? static_cast<double>(served.first_token_after_ns())
                        : static_cast<double>(served.latency_ns());
  // A request is off as all of them are.
  const double value = ns * 1e-9;
  if (!(mean.typical > 0)) return Figure{value, value, value};
  return Figure{value, value * (mean.low / mean.typical), value * (mean.high / mean.typical)};
}

MeasuredOf ServedPredictor::measured() const {
  const ServedModel& served = serving_.served;
  return {.kind = std::string(to_string(MeasuredKind::decoding)),
          .first = served.framework->name,
          .second = served.cluster->accelerator.name,
          .cell = fmt::format("{} {} {} {}", serving_.model->name, served.tensor, served.experts,
                              word_of(served.precisions)),
          .ranks = served.tensor * served.experts};
}

Result<ConfigValue> requests_of(const std::vector<ConfigValue>& rows) {
  ConfigValue requests;
  requests.kind = Kind::object;
  requests.keys = {"columns", "rows"};
  requests.items.resize(2);
  requests.items[0].kind = requests.items[1].kind = Kind::list;
  double last = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ConfigValue* const arrival = rows[i].find("arrival_s");
    const double at = number_of(arrival).value_or(last);
    if (at < last) {
      return Error{ErrorCode::bad_format,
                   fmt::format("/rows/{}: arrives before the one before it", i)};
    }
    last = at;
    ConfigValue cells;
    cells.kind = Kind::list;
    cells.items = rows[i].items;
    requests.items[1].items.push_back(std::move(cells));
  }
  if (rows.empty()) return requests;
  for (const std::string& key : rows.front().keys) {
    ConfigValue name;
    name.kind = Kind::text;
    name.text = key;
    requests.items[0].items.push_back(std::move(name));
  }
  return requests;
}

}  // namespace foretrace::validation
