#include "tests/validation/maps/predict.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/core/config_text.h"
#include "tests/validation/maps/answers.h"
#include "tests/validation/maps/map_row.h"
#include "tests/validation/studies/row_numbers.h"

namespace foretrace::validation {
namespace {

constexpr std::string_view fitted = "fitted";
constexpr std::string_view left_out = "left_out";

/// A point, and which of the results it belongs to.
struct Placed {
  TablePoint point;
  std::string result;
  std::optional<TablePoint> left_out{};
  std::string beyond{};  ///< what law the prediction breaks
};

Result<double> calculated(const std::string& expression, double otherwise, const MapRow& row) {
  if (expression.empty()) return otherwise;
  return calculate(expression, row.numbers);
}

/// All of the points together.
TableResult total_of(const TableResult& result) {
  TableResult total;
  total.name = result.name + ".total";
  total.unit = result.unit;
  TablePoint sum;
  sum.column = result.points.front().column;
  for (const TablePoint& point : result.points) {
    sum.predicted += point.predicted;
    sum.measured += point.measured;
    sum.low += point.low;
    sum.high += point.high;
  }
  total.points.push_back(sum);
  return total;
}

std::string mean_note(std::string_view what, const TableResult& result) {
  double predicted = 0;
  double measured = 0;
  for (const TablePoint& point : result.points) {
    predicted += point.predicted;
    measured += point.measured;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, result.points.size()));
  return fmt::format("mean {}: {:.4g} {} predicted, {:.4g} {} measured", what, predicted / count,
                     result.unit, measured / count, result.unit);
}

class Predictor {
 public:
  Predictor(const TableMap& map, const TruthTable& table, TableInputs& inputs)
      : map_(map), table_(table), answers_(table, inputs) {}

  Result<std::vector<TableResult>> run() {
    if (map_.run.find("rows") != nullptr) {
      FORETRACE_TRY(gather_requests());
    }
    std::vector<TableResult> results;
    for (const ResultMap& one : map_.results) {
      TableResult result;
      result.name = one.name.empty() ? table_.id : fmt::format("{}.{}", table_.id, one.name);
      result.unit = one.unit;
      result.is_share = one.is_share;
      result.notes = one.notes;
      results.push_back(std::move(result));
    }
    for (std::size_t i = 0; i < table_.size(); ++i) add_row(i, results);
    return finished(std::move(results));
  }

 private:
  /// Of a table whose rows are requests to one server: what all of them say.
  Status gather_requests() {
    std::vector<ConfigValue> rows;
    for (std::size_t i = 0; i < table_.size(); ++i) {
      const auto row = read_map_row(map_, table_, i);
      const auto run = row.ok() ? filled_run(*row) : Result<ConfigValue>(row.error());
      if (!run.ok()) return Error(run.error()).with_context(fmt::format("/rows/{}", i));
      rows.push_back(*run->find("rows"));
    }
    FORETRACE_TRY(auto requests, requests_of(rows));
    FORETRACE_TRY(auto change, parse_config(R"({"rows": false, "serving": {"requests": {}}})"));
    change.items[1].items[0] = std::move(requests);
    requests_ = std::move(change);
    return ok_status();
  }

  [[nodiscard]] std::vector<TableResult> finished(std::vector<TableResult> results) const {
    std::vector<TableResult> all;
    for (std::size_t i = 0; i < results.size(); ++i) {
      TableResult& result = results[i];
      if (i > 0 && result.points.empty() && result.skipped.empty()) continue;
      if (!map_.results[i].mean.empty()) {
        result.notes.push_back(mean_note(map_.results[i].mean, result));
      }
      all.push_back(std::move(result));
      const bool has_total = map_.results[i].has_total && !all.back().points.empty();
      if (has_total) all.push_back(total_of(TableResult(all.back())));
    }
    return all;
  }

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
      auto predicted = is_asked.ok() ? best_of(point, i, *row) : Result<Placed>(is_asked.error());
      if (predicted.ok()) {
        place(*std::move(predicted), results);
      } else if (predicted.error().message != last) {
        last = predicted.error().message;
        result_of(point.result, results).skipped.push_back({i, last});
      }
    }
  }

  void place(Placed placed, std::vector<TableResult>& results) {
    if (!placed.beyond.empty()) {
      results.front().notes.push_back(
          fmt::format("row {}: beyond a law: {}", placed.point.row, placed.beyond));
    }
    if (placed.left_out.has_value() && map_.has_result(left_out)) {
      result_of(left_out, results).points.push_back(*std::move(placed.left_out));
    } else if (placed.left_out.has_value() && placed.point.of.kind.empty()) {
      placed.point.of = std::move(placed.left_out->of);
    }
    result_of(placed.result, results).points.push_back(std::move(placed.point));
  }

  Result<bool> asks(const PointMap& point, std::size_t i, const MapRow& row) const {
    const TruthRow cells = table_.row(i);
    if (!point.unless.empty() && cells.find(point.unless) != nullptr) return false;
    if (point.is_optional && cells.find(point.column) == nullptr) return false;
    FORETRACE_TRY(const auto value, calculated(point.only, 1, row));
    return value != 0;
  }

  /// What a row leaves open was chosen to run fastest within memory.
  Result<Placed> best_of(const PointMap& point, std::size_t i, const MapRow& row) {
    if (row.open.values.empty()) return point_of(point, i, row);
    Result<Placed> best = Error{ErrorCode::no_match, row.open.name + ": nothing fits into memory"};
    for (const double value : row.open.values) {
      MapRow one = row;
      one.numbers[row.open.name] = value;
      auto placed = point_of(point, i, std::move(one));
      const bool is_better =
          placed.ok() &&
          (!best.ok() || (point.is == "rate" ? placed->point.predicted > best->point.predicted
                                             : placed->point.predicted < best->point.predicted));
      if (is_better || (!placed.ok() && !best.ok())) best = std::move(placed);
    }
    return best;
  }

  Result<Placed> point_of(const PointMap& point, std::size_t i, MapRow row) {
    FORETRACE_TRY(const auto figure, measured_in(table_.row(i), point.column));
    row.numbers[point.column] = figure;
    FORETRACE_TRY(read_point_columns(point, table_.row(i), row));
    FORETRACE_TRY(const auto measured, calculated(point.measured, figure * point.unit, row));
    FORETRACE_TRY(const auto answer, answer_of(point, i, measured, row));
    const Figure& predicted = answer.figure;
    if (answer.law.forbids(measured)) {
      return Error{ErrorCode::no_match, "set aside: measured " + answer.law.told(measured)};
    }
    TablePoint placed{i,
                      point.as.empty() ? point.column : point.as,
                      predicted.value,
                      predicted.low,
                      predicted.high,
                      measured,
                      answer.group};
    if (!point.group.empty()) {
      FORETRACE_TRY(placed.group, filled_text(point.group, row));
    }
    const double sign = point.is == "rate" ? -1 : 1;
    const auto with_residual = [this, sign](TablePoint one, const MeasuredOf& of) {
      one.of = of;
      one.of.publisher = of.is_of_training() ? map_.publisher : std::string();
      one.of.residual = std::log(one.predicted / one.measured) * sign;
      return one;
    };
    std::optional<TablePoint> without;
    if (answer.left_out.has_value()) {
      const Figure& alone = answer.left_out->figure;
      without = placed;
      without->predicted = alone.value;
      without->low = alone.low;
      without->high = alone.high;
      without = with_residual(*std::move(without), answer.left_out->of);
    }
    placed = with_residual(std::move(placed), answer.of);
    return Placed{
        std::move(placed), answer.is_fitted ? std::string(fitted) : point.result,
        std::move(without),
        answer.law.forbids(predicted.value) ? answer.law.told(predicted.value) : std::string()};
  }

  Result<Answer> answer_of(const PointMap& point, std::size_t i, double measured, MapRow& row) {
    FORETRACE_TRY(auto run, filled_run(row));
    Question question{.point = point, .run = run, .measured = measured};
    if (requests_.has_value()) {
      merge_members(run, *requests_);
      question.request = i;
    }
    FORETRACE_TRY(auto answer, answers_.of(question, row));
    if (!row.open.values.empty() && answer.memory_bytes > answer.device_bytes) {
      return Error{ErrorCode::no_match, row.open.name + ": nothing fits into memory"};
    }
    if (point.against.kind != ConfigValue::Kind::null) {
      FORETRACE_TRY(const auto base, base_of(point, measured, row));
      // What both are off by cancels.
      const double ratio = answer.figure.value / base.figure.value;
      answer.figure = {ratio, ratio, ratio};
      answer.of = {};
      answer.law = {};
    }
    if (point.is == "rate") return answer;
    FORETRACE_TRY(const auto amount, calculated(point.amount, 1, row));
    answer.figure = answer.figure.times(amount);
    answer.law.least *= amount;
    return answer;
  }

  Result<Answer> base_of(const PointMap& point, double measured, MapRow row) {
    merge_members(row.run, point.against);
    FORETRACE_TRY(const auto run, filled_run(row));
    return answers_.of({.point = point, .run = run, .measured = measured}, row);
  }

  const TableMap& map_;
  const TruthTable& table_;
  std::optional<ConfigValue> requests_;
  Answers answers_;
};

}  // namespace

Result<std::vector<TableResult>> predict_by_map(const TableMap& map, const TruthTable& table,
                                                TableInputs& inputs) {
  return Predictor(map, table, inputs).run();
}

}  // namespace foretrace::validation
