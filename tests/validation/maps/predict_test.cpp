// Rows by maps: what a row says is what is predicted, and what it says in words that no map knows
// is not predicted at all.
#include "tests/validation/maps/predict.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/core/config_text.h"
#include "tests/configs.h"
#include "tests/validation/validate_tables.h"

namespace foretrace::validation {
namespace {

namespace fs = std::filesystem;

const std::string fixtures = FORETRACE_SOURCE_DIR "/tests/fixtures/tables/";

std::vector<TableResult> results_of(const TableMap& map, const TruthTable& table) {
  TableInputs inputs(*test::shipped());
  auto results = predict_by_map(map, table, inputs);
  if (results.ok()) return *std::move(results);
  TableResult none;  // rows that depend on each other fail together
  const std::string reason = results.error().message;
  none.skipped.push_back({0, reason.substr(reason.find(": ") + 2)});
  return {none};
}

std::size_t points_of(const TableMap& map, const TruthTable& table) {
  std::size_t points = 0;
  for (const TableResult& result : results_of(map, table)) points += result.points.size();
  return points;
}

/// Which rows are not predicted, and why.
std::vector<std::string> reasons_of(const TableMap& map, const TruthTable& table) {
  std::vector<std::string> reasons;
  for (const TableResult& result : results_of(map, table)) {
    for (const SkippedRow& row : result.skipped) reasons.push_back(row.reason);
  }
  return reasons;
}

const TablePredictors& predictors() {
  static const TablePredictors known = [] {
    auto read = TablePredictors::read();
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    return *std::move(read);
  }();
  return known;
}

template <typename Check>
void for_each_fixture(Check check) {
  for (const auto& file : fs::directory_iterator(fixtures)) {
    TruthTable table = read_truth_table(file.path().string()).value();
    const TableMap* const map = predictors().map_of(table.id);
    if (map == nullptr) continue;
    CAPTURE(table.id);
    check(*map, std::move(table));
  }
}

ConfigValue text(std::string value) {
  ConfigValue made;
  made.kind = ConfigValue::Kind::text;
  made.text = std::move(value);
  return made;
}

bool has_words(const ColumnMap& column) {
  return column.kind == ColumnMap::Kind::words || column.kind == ColumnMap::Kind::pattern;
}

TEST_CASE("maps: a machine, a task, a framework or a precision of another name is not predicted") {
  std::size_t tried = 0;
  for_each_fixture([&tried](const TableMap& map, TruthTable table) {
    REQUIRE(points_of(map, table) > 0);
    for (const ColumnMap& column : map.columns) {
      if (!has_words(column)) continue;
      CAPTURE(column.name);
      TruthTable other = table;
      const auto at = std::find(table.columns.begin(), table.columns.end(), column.name);
      if (at == table.columns.end()) continue;
      for (ConfigValue& row : find_member(other.document, "rows")->items) {
        row.items[static_cast<std::size_t>(at - table.columns.begin())] = text("of tomorrow");
      }
      CHECK(points_of(map, other) == 0);
      const auto reasons = reasons_of(map, other);
      REQUIRE_FALSE(reasons.empty());
      CHECK(reasons.front().starts_with(column.name + ": got 'of tomorrow'"));
      ++tried;
    }
    for (const ColumnMap& key : map.fixed) {
      if (!has_words(key)) continue;
      CAPTURE(key.name);
      TruthTable other = table;
      ConfigValue* const fixed = find_member(other.document, "fixed");
      if (fixed == nullptr || find_member(*fixed, key.name) == nullptr) continue;
      *find_member(*fixed, key.name) = text("of tomorrow");
      CHECK(points_of(map, other) == 0);
      ++tried;
    }
  });
  CHECK(tried >= 30);
}

TEST_CASE("maps: a column, or a fixed key, that a map does not have makes its rows unknown") {
  for_each_fixture([](const TableMap& map, TruthTable table) {
    TruthTable wider = table;
    wider.columns.emplace_back("slow_links");
    const char* const rows = find_member(wider.document, "rows") != nullptr ? "rows" : "records";
    for (ConfigValue& row : find_member(wider.document, rows)->items) {
      row.items.push_back(text("yes"));
      if (row.kind == ConfigValue::Kind::object) row.keys.emplace_back("slow_links");
    }
    CHECK(points_of(map, wider) == 0);
    CHECK(reasons_of(map, wider).front() == "slow_links: is not in the map of this table");
    ConfigValue* const fixed = find_member(table.document, "fixed");
    if (fixed == nullptr) return;
    fixed->keys.emplace_back("tensor_ranks");
    fixed->items.push_back(text("8"));
    CHECK(points_of(map, table) == 0);
    CHECK(reasons_of(map, table).front() == "fixed/tensor_ranks: is not in the map of this table");
  });
}

ConfigValue number(double value) {
  ConfigValue made = text(std::to_string(value));
  made.kind = ConfigValue::Kind::number;
  return made;
}

TEST_CASE("maps: what a row leaves open is one of what may have been, and the fastest that fits") {
  const TruthTable table = read_truth_table(fixtures + "maxtext_tpu_mfu.json").value();
  const TableMap& map = *predictors().map_of(table.id);
  const auto rate_with = [&](const ConfigValue& batch) {
    TruthTable other = table;
    ConfigValue* const rows = find_member(other.document, "rows");
    rows->items.erase(rows->items.begin());
    rows->items.front().items.back() = batch;
    return results_of(map, other).front().points.front().predicted;
  };
  const double open = rate_with({});
  std::vector<double> rates;
  for (const double batch : {1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24}) {
    rates.push_back(rate_with(number(batch)));
  }
  CHECK(std::find(rates.begin(), rates.end(), open) != rates.end());
  CHECK(open >= rates.front());
}

TEST_CASE("maps: records share what one of their kind says, and every member is asked for") {
  TruthTable table = read_truth_table(fixtures + "korthikanti_recompute.json").value();
  const TableMap& map = *predictors().map_of(table.id);
  std::size_t layers = 0;
  for (const TableResult& result : results_of(map, table)) {
    if (!result.name.ends_with(".layer_ms")) continue;
    REQUIRE(result.points.size() == 3);
    // A layer is its two passes.
    CHECK(result.points[0].predicted + result.points[1].predicted ==
          doctest::Approx(result.points[2].predicted));
    ++layers;
  }
  CHECK(layers == 1);
  ConfigValue& records = *find_member(table.document, "records");
  *find_member(records.items[1], "model") = text("4B");
  CHECK(reasons_of(map, table) ==
        std::vector<std::string>{"heads: got nothing, expected a whole number from 1 to 1000000"});
  ConfigValue& figure = *find_member(records.items[0], "fig1_gib");
  figure.keys.emplace_back("of_tomorrow");
  figure.items.push_back(text("1"));
  CHECK(reasons_of(map, table).front() == "fig1_gib.of_tomorrow: is not in the map of this table");
}

TEST_CASE("maps: a part with changes is the part, but for them") {
  const TruthTable table = read_truth_table(fixtures + "torchtitan_async_tp_h100.json").value();
  const TableMap& map = *predictors().map_of(table.id);
  const auto rate_with = [&](std::string_view change) {
    TableMap other = map;
    merge_members(other.run, parse_config(change).value());
    const auto results = results_of(other, table);
    return results.front().points.empty() ? 0.0 : results.front().points.front().predicted;
  };
  const double rate = rate_with("{}");
  REQUIRE(rate > 0);
  CHECK(rate_with(R"({"framework": {"kernels": {}}, "model": {}, "cluster": {"node": {}}})") ==
        rate);
  CHECK(rate_with(R"({"model": {"vocabulary": 1}})") > rate);
  CHECK(rate_with(R"({"model": {"of_tomorrow": 1}})") == 0);
  CHECK(rate_with(R"({"model": {"layers": 1}})") > 2 * rate);
  CHECK(rate_with(R"({"model": {"layers": 0}})") == rate);  // as many as its file says
}

TEST_CASE("maps: a figure against its own run is one, and amounts count it") {
  const auto map = parse_table_map(R"({
    "schema": "foretrace.table_map/1", "tables": ["t"], "unit": "%",
    "columns": {"share": "measured"},
    "run": {"scenario": {"workload": {"model": "GPT-3 175B"}, "cluster": "selene",
                         "framework": "megatron_2021", "parallelism": {"tensor": 8},
                         "batch": {"global": 1}}},
    "points": [{"column": "share", "is": "activations", "amount": "100", "against": {"let": {}}}]})",
                                   "t.json");
  REQUIRE_MESSAGE(map.ok(), map.error().message);
  TruthTable table{.id = "t", .path = "t", .columns = {"share"}, .document = {}};
  table.document = parse_config(R"({"rows": [[90]]})").value();
  const auto results = results_of(*map, table);
  REQUIRE(results.front().points.size() == 1);
  CHECK(results.front().points.front().predicted == doctest::Approx(100));
}

}  // namespace
}  // namespace foretrace::validation
