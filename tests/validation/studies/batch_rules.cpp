#include "tests/validation/studies/batch_rules.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/core/config.h"

namespace foretrace::scheduling {
namespace {

constexpr std::string_view schema = "foretrace.batch_rules/1";
constexpr double most = 1e12;

std::int64_t whole_number(ConfigFields& fields, std::string_view key, double least) {
  double number = least;
  fields.quantity(key, ParamType::integer, number);
  if (number < least || number > most) {
    fields.mistake(key, fmt::format("got {}, expected {} to {}", number, least, most));
  }
  return static_cast<std::int64_t>(std::clamp(number, least, most));
}

std::vector<std::int64_t> whole_numbers(ConfigFields& fields, std::string_view key) {
  std::vector<double> numbers;
  fields.numbers(key, numbers);
  std::vector<std::int64_t> rounded;
  for (const double number : numbers) {
    if (number < 0 || number > most || number != std::floor(number)) {
      fields.mistake(key, fmt::format("got {}, expected whole numbers from 0 to {}", number, most));
      return {};
    }
    rounded.push_back(static_cast<std::int64_t>(number));
  }
  return rounded;
}

// Numbers in twos.
std::vector<std::pair<std::int64_t, std::int64_t>> pairs(ConfigFields& fields,
                                                         std::string_view first,
                                                         std::string_view second) {
  const std::vector<std::int64_t> a = whole_numbers(fields, first);
  const std::vector<std::int64_t> b = whole_numbers(fields, second);
  if (a.size() != b.size()) {
    fields.mistake(second, fmt::format("got {} numbers, expected as many as in '{}', {}", b.size(),
                                       first, a.size()));
    return {};
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> both;
  for (std::size_t i = 0; i < a.size(); ++i) both.emplace_back(a[i], b[i]);
  return both;
}

void read_regimes(ConfigFields& fields, const ConfigValue* list, ModelRules& rules) {
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    ConfigFields part(list->items[i], fields.file(),
                      fmt::format("{}/{}", fields.pointer_of("regimes"), i));
    Regime regime;
    regime.batches = whole_numbers(part, "batches");
    regime.period = whole_number(part, "period", 0);
    regime.critical = pairs(part, "critical_from", "critical_to");
    fields.take(part.finish());
    rules.regimes.push_back(std::move(regime));
  }
}

void read_growth(ConfigFields& fields, const ConfigValue* list, ModelRules& rules) {
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    ConfigFields part(list->items[i], fields.file(),
                      fmt::format("{}/{}", fields.pointer_of("growth"), i));
    Growth growth;
    growth.batch = whole_number(part, "batch", 1);
    growth.gpus = whole_number(part, "gpus", 1);
    growth.multiples = pairs(part, "epochs", "multiples");
    fields.take(part.finish());
    rules.growth.push_back(std::move(growth));
  }
}

std::optional<BatchPlan> regime_plan(const ModelRules& rules, std::int64_t batch) {
  for (const Regime& regime : rules.regimes) {
    if (std::find(regime.batches.begin(), regime.batches.end(), batch) == regime.batches.end()) {
      continue;
    }
    BatchPlan plan{.samples_per_epoch = rules.samples_per_epoch, .wanted = {}, .types = {}};
    plan.period = regime.period;
    plan.wanted.push_back({0, rules.largest_batch});
    for (const auto& [from, to] : regime.critical) {
      plan.wanted.push_back({from, batch});
      plan.wanted.push_back({to, rules.largest_batch});
    }
    return plan;
  }
  return std::nullopt;
}

std::optional<BatchPlan> growth_plan(const ModelRules& rules, std::int64_t batch,
                                     std::int64_t gpus) {
  for (const Growth& growth : rules.growth) {
    if (growth.batch != batch || growth.gpus != gpus) continue;
    BatchPlan plan{.samples_per_epoch = rules.samples_per_epoch, .wanted = {}, .types = {}};
    plan.grows = true;
    plan.wanted.push_back({0, batch});
    for (const auto& [epoch, multiple] : growth.multiples) {
      plan.wanted.push_back({epoch, batch * multiple});
    }
    return plan;
  }
  return std::nullopt;
}

Result<BatchRules> read_rules(const Result<ConfigValue>& root, const std::string& where) {
  FORETRACE_TRY(root);
  ConfigFields fields(*root, where);
  std::string source;
  fields.text("source", source);
  BatchRules rules;
  const ConfigValue* models = fields.objects("models");
  for (std::size_t i = 0; models != nullptr && i < models->items.size(); ++i) {
    ConfigFields model(models->items[i], where,
                       fmt::format("{}/{}", fields.pointer_of("models"), i));
    ModelRules read;
    model.text("model", read.model);
    read.samples_per_epoch = whole_number(model, "samples_per_epoch", 1);
    read.largest_batch = whole_number(model, "largest_batch", 1);
    read_regimes(model, model.objects("regimes"), read);
    read_growth(model, model.objects("growth"), read);
    fields.take(model.finish());
    rules.models.push_back(std::move(read));
  }
  FORETRACE_TRY(fields.finish());
  return rules;
}

}  // namespace

std::optional<BatchPlan> BatchRules::plan(std::string_view mode, std::string_view model,
                                          std::int64_t batch, std::int64_t gpus) const {
  const auto found = std::find_if(models.begin(), models.end(),
                                  [model](const ModelRules& one) { return one.model == model; });
  if (found == models.end() || batch >= found->largest_batch) return std::nullopt;
  if (mode == "accordion") return regime_plan(*found, batch);
  if (mode == "gns") return growth_plan(*found, batch, gpus);
  return std::nullopt;
}

Result<BatchRules> read_batch_rules(const std::string& path) {
  return read_rules(read_config(path, schema), path);
}

Result<BatchRules> parse_batch_rules(std::string_view text, const std::string& where) {
  return read_rules(parse_config_document(text, where, schema), where);
}

}  // namespace foretrace::scheduling
