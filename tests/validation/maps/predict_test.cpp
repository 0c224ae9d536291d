// Rows by maps: what a row says is what is predicted, and what it says in words that no map knows
// is not predicted at all.
#include "tests/validation/maps/predict.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/configs.h"
#include "tests/validation/validate_tables.h"

namespace foretrace::validation {
namespace {

namespace fs = std::filesystem;

const std::string fixtures = FORETRACE_SOURCE_DIR "/tests/fixtures/tables/";

std::size_t points_of(const TableMap& map, const TruthTable& table) {
  TableInputs inputs(*test::shipped());
  std::size_t points = 0;
  for (const TableResult& result : predict_by_map(map, table, inputs)) {
    points += result.points.size();
  }
  return points;
}

/// Which rows are not predicted, and why.
std::vector<std::string> reasons_of(const TableMap& map, const TruthTable& table) {
  TableInputs inputs(*test::shipped());
  std::vector<std::string> reasons;
  for (const TableResult& result : predict_by_map(map, table, inputs)) {
    for (const SkippedRow& row : result.skipped) reasons.push_back(row.reason);
  }
  return reasons;
}

template <typename Check>
void for_each_fixture(Check check) {
  const auto predictors = TablePredictors::read();
  REQUIRE_MESSAGE(predictors.ok(), predictors.error().message);
  for (const TableMap& map : predictors->maps()) {
    for (const auto& [id, patch] : map.tables) {
      if (!fs::exists(fixtures + id + ".json")) continue;
      CAPTURE(id);
      check(map, read_truth_table(fixtures + id + ".json").value());
    }
  }
}

ConfigValue* member(ConfigValue& object, std::string_view key) {
  const auto at = std::find(object.keys.begin(), object.keys.end(), key);
  return at == object.keys.end()
             ? nullptr
             : &object.items[static_cast<std::size_t>(at - object.keys.begin())];
}

ConfigValue text(std::string value) {
  ConfigValue made;
  made.kind = ConfigValue::Kind::text;
  made.text = std::move(value);
  return made;
}

TEST_CASE("maps: a machine, a task, a framework or a precision of another name is not predicted") {
  std::size_t tried = 0;
  for_each_fixture([&tried](const TableMap& map, TruthTable table) {
    REQUIRE(points_of(map, table) > 0);
    for (const ColumnMap& column : map.columns) {
      if (column.kind != ColumnMap::Kind::words) continue;
      CAPTURE(column.name);
      TruthTable other = table;
      const auto at = std::find(table.columns.begin(), table.columns.end(), column.name);
      if (at == table.columns.end()) continue;
      for (ConfigValue& row : member(other.document, "rows")->items) {
        row.items[static_cast<std::size_t>(at - table.columns.begin())] = text("of tomorrow");
      }
      CHECK(points_of(map, other) == 0);
      const auto reasons = reasons_of(map, other);
      REQUIRE_FALSE(reasons.empty());
      CHECK(reasons.front().starts_with(column.name + ": got 'of tomorrow'"));
      ++tried;
    }
    for (const ColumnMap& key : map.fixed) {
      if (key.kind != ColumnMap::Kind::words) continue;
      CAPTURE(key.name);
      TruthTable other = table;
      ConfigValue* const fixed = member(other.document, "fixed");
      if (fixed == nullptr || member(*fixed, key.name) == nullptr) continue;
      *member(*fixed, key.name) = text("of tomorrow");
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
    for (ConfigValue& row : member(wider.document, "rows")->items) row.items.push_back(text("yes"));
    CHECK(points_of(map, wider) == 0);
    CHECK(reasons_of(map, wider).front() == "slow_links: is not in the map of this table");
    ConfigValue* const fixed = member(table.document, "fixed");
    if (fixed == nullptr) return;
    fixed->keys.emplace_back("tensor_ranks");
    fixed->items.push_back(text("8"));
    CHECK(points_of(map, table) == 0);
    CHECK(reasons_of(map, table).front() == "fixed/tensor_ranks: is not in the map of this table");
  });
}

}  // namespace
}  // namespace foretrace::validation
