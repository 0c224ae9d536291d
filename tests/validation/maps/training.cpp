#include "tests/validation/maps/training.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "apps/driver/scenario/open_choices.h"
#include "sim/core/config_text.h"
#include "tests/validation/maps/map_row.h"
#include "tests/validation/studies/row_numbers.h"
#include "tests/validation/tables/row_prediction.h"

namespace foretrace::validation {
namespace {

using driver::OpenChoices;
using driver::RowPrediction;
using driver::Scenario;
using driver::TableInputs;
using driver::TablePoint;
using driver::TableResult;
using driver::TruthTable;

constexpr double gib = 1024.0 * 1024 * 1024;

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
    const auto called = inputs.model(model->text);
    if (!called.ok()) return called.error();
    model->text = (*called)->name;
  }
  ConfigValue* const schedule = member(document, "schedule");
  if (schedule != nullptr && driver::number_of(schedule->find("chunks")).value_or(1) <= 1) {
    remove_member(document, "schedule");
  }
  return ok_status();
}

std::uint32_t count_at(const ConfigValue* object, std::string_view key, std::uint32_t standard) {
  const auto number = object == nullptr ? std::nullopt : driver::number_of(object->find(key));
  if (!number.has_value() || *number < 1 || *number > driver::most_tokens) return standard;
  return static_cast<std::uint32_t>(*number);
}

/// {"model": {"layers": 12, "vocabulary": 64000}, "cluster": {"nodes": 2, "node_accelerators": 3}}:
/// what differs from the files that the scenario names.
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
/// {"recompute": ["none", "full"], "chunks": [1, 2], "micro": [1, 2], "memory_share": 0.94,
///  "ran": true}. "ran": it fitted, whatever we say.
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
      open.chunks.push_back(
          static_cast<std::uint32_t>(driver::number_of(&chunks->items[i]).value_or(1)));
    }
    if (const ConfigValue* list = object->find("micro")) {
      for (const ConfigValue& one : list->items) {
        open.micro_batches.push_back(driver::number_of(&one).value_or(1));
      }
    }
    open.memory_bytes = driver::number_of(object->find("memory_share")).value_or(0) *
                        static_cast<double>(scenario.cluster->accelerator.memory_bytes);
    const ConfigValue* said = object->find("ran");
    ran = said != nullptr && said->text == "true";
  }
  auto best = driver::fastest_choice(scenario, open);
  if (best.ok() || best.error().code != ErrorCode::no_match || !ran) return best;
  open.memory_bytes = 0;
  if (!open.recomputes.empty()) open.recomputes = {open.recomputes.back()};
  return driver::fastest_choice(scenario, open);
}

class Predictor {
 public:
  Predictor(const TableMap& map, const TruthTable& table, TableInputs& inputs)
      : map_(map), table_(table), inputs_(inputs) {}

  std::vector<TableResult> run() {
    std::vector<TableResult> results;
    for (const ResultMap& one : map_.results) {
      TableResult result;
      result.name = one.name.empty() ? table_.id : fmt::format("{}.{}", table_.id, one.name);
      result.unit = one.unit;
      result.notes = one.notes;
      results.push_back(std::move(result));
    }
    for (std::size_t i = 0; i < table_.size(); ++i) add_row(i, results);
    std::erase_if(results, [&](const TableResult& result) {
      return &result != results.data() && result.points.empty() && result.skipped.empty();
    });
    return results;
  }

 private:
  TableResult& result_of(const PointMap& point, std::vector<TableResult>& results) {
    const auto at =
        std::find_if(map_.results.begin(), map_.results.end(),
                     [&point](const ResultMap& result) { return result.name == point.result; });
    return results[static_cast<std::size_t>(at - map_.results.begin())];
  }

  void add_row(std::size_t i, std::vector<TableResult>& results) {
    const auto row = read_map_row(map_, table_, i);
    if (!row.ok()) {
      results.front().skipped.push_back({i, row.error().message});
      return;
    }
    std::string last;  // points often share what keeps them from being predicted
    for (const PointMap& point : map_.points) {
      const auto is_asked = asks(point, i, *row);
      if (is_asked.ok() && !*is_asked) continue;
      TableResult& result = result_of(point, results);
      auto predicted =
          is_asked.ok() ? point_of(point, i, *row) : Result<TablePoint>(is_asked.error());
      if (predicted.ok()) {
        result.points.push_back(*std::move(predicted));
      } else if (predicted.error().message != last) {
        last = predicted.error().message;
        result.skipped.push_back({i, last});
      }
    }
  }

  Result<bool> asks(const PointMap& point, std::size_t i, const MapRow& row) {
    const driver::TruthRow cells = table_.row(i);
    if (!point.unless.empty() && cells.find(point.unless) != nullptr) return false;
    if (point.is_optional && cells.find(point.column) == nullptr) return false;
    if (point.only.empty()) return true;
    const auto value = calculate(point.only, row.numbers);
    if (!value.ok()) return value.error();
    return *value != 0;
  }

  Result<TablePoint> point_of(const PointMap& point, std::size_t i, MapRow row) {
    const auto figure = driver::measured_in(table_.row(i), point.column);
    if (!figure.ok()) return figure.error();
    row.numbers[point.column] = *figure;
    if (Status status = read_point_columns(point, table_.row(i), row); !status.ok()) {
      return status.error();
    }
    const auto run = filled_run(row);
    if (!run.ok()) return run.error();
    const auto prediction = predict(*run);
    if (!prediction.ok()) return prediction.error();
    row.numbers["tokens"] = tokens_;
    double measured = *figure * point.unit;
    if (!point.measured.empty()) {
      const auto calculated = calculate(point.measured, row.numbers);
      if (!calculated.ok()) return calculated.error();
      measured = *calculated;
    }
    double amount = 1;
    if (!point.amount.empty()) {
      const auto calculated = calculate(point.amount, row.numbers);
      if (!calculated.ok()) return calculated.error();
      amount = *calculated;
    }
    TablePoint made = made_point(point, *prediction, amount);
    made.row = i;
    made.measured = measured;
    auto group = filled_text(point.group, row);
    if (!group.ok()) return group.error();
    made.group = *std::move(group);
    return made;
  }

  static TablePoint made_point(const PointMap& point, const RowPrediction& prediction,
                               double amount) {
    if (point.is == "rate") return driver::rate_point(0, point.column, prediction, amount, 0);
    if (point.is == "memory") {
      const double bytes = prediction.memory_bytes / gib;
      return {0, point.column, bytes, point.low * bytes, point.high * bytes, 0};
    }
    RowPrediction all = prediction;
    for (double* const s : {&all.step_s, &all.low_s, &all.high_s}) *s *= amount;
    return driver::time_point(0, point.column, all, 0);
  }

  /// Points of a row often ask for the same run.
  Result<RowPrediction> predict(const ConfigValue& run) {
    std::string text = json_text(run);
    if (text == last_run_) return last_;
    auto scenario = scenario_of(run);
    if (!scenario.ok()) return scenario.error();
    last_run_ = std::move(text);
    tokens_ = scenario->job.tokens_per_step();
    last_ = driver::predict_row(*scenario);
    return last_;
  }

  Result<Scenario> scenario_of(const ConfigValue& run) {
    const ConfigValue* const given = run.find("scenario");
    if (given == nullptr) return Error{ErrorCode::bad_config, "the map describes no scenario"};
    ConfigValue document = *given;
    if (Status status = in_words_of_scenarios(document, inputs_); !status.ok()) {
      return status.error();
    }
    auto scenario = driver::scenario_of(inputs_.catalogue(), document, "scenario", parts_);
    if (!scenario.ok()) return scenario;
    change_parts(run, *scenario);
    return with_choices(*scenario, run.find("open"));
  }

  const TableMap& map_;
  const TruthTable& table_;
  TableInputs& inputs_;
  driver::ScenarioParts parts_;
  std::string last_run_;
  RowPrediction last_;
  double tokens_ = 0;
};

}  // namespace

std::vector<TableResult> predict_by_map(const TableMap& map, const TruthTable& table,
                                        TableInputs& inputs) {
  return Predictor(map, table, inputs).run();
}

}  // namespace foretrace::validation
