#include "tests/validation/maps/predict.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tests/validation/maps/collective.h"
#include "tests/validation/maps/exchange.h"
#include "tests/validation/maps/generation.h"
#include "tests/validation/maps/map_row.h"
#include "tests/validation/maps/training.h"
#include "tests/validation/studies/row_numbers.h"

namespace foretrace::validation {
namespace {

constexpr double gib = 1024.0 * 1024 * 1024;
constexpr std::string_view fitted = "fitted";

/// A point, and which of the results it belongs to.
struct Placed {
  TablePoint point;
  std::string result;
};

Result<double> calculated(const std::string& expression, double otherwise, const MapRow& row) {
  if (expression.empty()) return otherwise;
  return calculate(expression, row.numbers);
}

class Predictor {
 public:
  Predictor(const TableMap& map, const TruthTable& table, TableInputs& inputs)
      : map_(map), table_(table), inputs_(inputs), steps_(inputs) {}

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
  TableResult& result_of(std::string_view name, std::vector<TableResult>& results) {
    const auto at = std::find_if(map_.results.begin(), map_.results.end(),
                                 [name](const ResultMap& result) { return result.name == name; });
    return results[at == map_.results.end() ? 0
                                            : static_cast<std::size_t>(at - map_.results.begin())];
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
      auto predicted = is_asked.ok() ? point_of(point, i, *row) : Result<Placed>(is_asked.error());
      if (predicted.ok()) {
        result_of(predicted->result, results).points.push_back(std::move(predicted->point));
      } else if (predicted.error().message != last) {
        last = predicted.error().message;
        result_of(point.result, results).skipped.push_back({i, last});
      }
    }
  }

  Result<bool> asks(const PointMap& point, std::size_t i, const MapRow& row) const {
    const TruthRow cells = table_.row(i);
    if (!point.unless.empty() && cells.find(point.unless) != nullptr) return false;
    if (point.is_optional && cells.find(point.column) == nullptr) return false;
    FORETRACE_TRY(const auto value, calculated(point.only, 1, row));
    return value != 0;
  }

  Result<Placed> point_of(const PointMap& point, std::size_t i, MapRow row) {
    FORETRACE_TRY(const auto figure, measured_in(table_.row(i), point.column));
    row.numbers[point.column] = figure;
    FORETRACE_TRY(read_point_columns(point, table_.row(i), row));
    FORETRACE_TRY(const auto run, filled_run(row));
    FORETRACE_TRY(const auto measured, calculated(point.measured, figure * point.unit, row));
    FORETRACE_TRY(auto placed, predict(point, run, measured, row));
    placed.point.row = i;
    placed.point.column = point.column;
    placed.point.measured = measured;
    if (point.group.empty()) return placed;
    FORETRACE_TRY(placed.point.group, filled_text(point.group, row));
    return placed;
  }

  Result<Placed> predict(const PointMap& point, const ConfigValue& run, double measured,
                         MapRow& row) {
    if (point.is == "collective") {
      FORETRACE_TRY(auto one, predict_collective(run, measured, inputs_));
      return Placed{std::move(one.point), std::string(one.is_fitted ? fitted : point.result)};
    }
    if (point.is == "exchange" || point.is == "exchange_rate") {
      FORETRACE_TRY(auto one, predict_exchange(run, point.is == "exchange_rate", inputs_));
      return Placed{std::move(one), point.result};
    }
    if (point.is == "prompt" || point.is == "token" || point.is == "total") {
      FORETRACE_TRY(const auto time, predict_generation(run, inputs_));
      const RangedSeconds& s = point.is == "prompt"  ? time.prompt
                               : point.is == "token" ? time.token
                                                     : time.total;
      return Placed{{0, "", s.typical, s.low, s.high, 0}, point.result};
    }
    FORETRACE_TRY(const auto step, steps_.predict(run));
    row.numbers["tokens"] = step.tokens;
    FORETRACE_TRY(const auto amount, calculated(point.amount, 1, row));
    return Placed{step_point(point, step.step, amount), point.result};
  }

  static TablePoint step_point(const PointMap& point, const RowPrediction& step, double amount) {
    if (point.is == "rate") return rate_point(0, "", step, amount, 0);
    if (point.is == "memory") {
      const double bytes = step.memory_bytes / gib;
      return {0, "", bytes, point.low * bytes, point.high * bytes, 0};
    }
    return {0, "", amount * step.step_s, amount * step.low_s, amount * step.high_s, 0};
  }

  const TableMap& map_;
  const TruthTable& table_;
  TableInputs& inputs_;
  StepPredictor steps_;
};

}  // namespace

std::vector<TableResult> predict_by_map(const TableMap& map, const TruthTable& table,
                                        TableInputs& inputs) {
  return Predictor(map, table, inputs).run();
}

}  // namespace foretrace::validation
