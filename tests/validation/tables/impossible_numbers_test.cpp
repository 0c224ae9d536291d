// Law: no number of a table, whatever stands in its place, ends the program or makes it work on
// and on: its row is skipped with the reason, or predicted.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "tests/configs.h"
#include "tests/validation/support/counted_new.h"
#include "tests/validation/validate_tables.h"

namespace foretrace {
namespace {

namespace fs = std::filesystem;

const std::string fixtures = FORETRACE_SOURCE_DIR "/tests/fixtures/tables";

using Tables = std::map<std::string, TruthTable>;

Tables read_tables() {
  Tables tables;
  for (const auto& file : fs::directory_iterator(fixtures)) {
    auto table = read_truth_table(file.path().string());
    REQUIRE_MESSAGE(table.ok(), table.error().message);
    const std::string id = table->id;
    tables.emplace(id, std::move(*table));
  }
  return tables;
}

const validation::TablePredictors& predictors() {
  static const validation::TablePredictors known = validation::TablePredictors::read().value();
  return known;
}

/// The tables that are read with this one.
std::vector<std::string> read_with(const Tables& tables, const std::string& id) {
  if (predictors().knows(id)) return {id};
  std::vector<std::string> others;
  const std::string family = id.substr(0, id.find('_', std::string_view("sched_").size()));
  for (const auto& [other, table] : tables) {
    if (other.starts_with(family) && predictors().knows(other)) others.push_back(other);
  }
  REQUIRE_FALSE(others.empty());
  return others;
}

struct Answer {
  std::string error;
  std::vector<TableResult> results;
  std::uint64_t work = 0;
};

Answer read_table(const Tables& tables, const std::string& id) {
  TableInputs inputs(*test::shipped());
  for (const auto& [other, table] : tables) inputs.add(table);
  const std::uint64_t before = test::allocations();
  auto results = predictors().predict(tables.at(id), inputs);
  Answer answer;
  answer.work = test::allocations() - before;
  if (results.ok()) {
    answer.results = *std::move(results);
  } else {
    answer.error = results.error().message;
  }
  return answer;
}

void check_answer(const Answer& answer) {
  for (const TableResult& result : answer.results) {
    for (const SkippedRow& row : result.skipped) CHECK_FALSE(row.reason.empty());
    for (const TablePoint& point : result.points) {
      CHECK(std::isfinite(point.predicted));
      CHECK(point.predicted >= 0);
      CHECK(std::isfinite(point.measured));
      CHECK(point.low <= point.high);
    }
  }
}

/// Every number below a value, by reference.
void collect(ConfigValue& value, std::vector<ConfigValue*>& numbers) {
  if (value.kind == ConfigValue::Kind::number) numbers.push_back(&value);
  for (ConfigValue& item : value.items) collect(item, numbers);
}

std::vector<ConfigValue*> numbers_of(TruthTable& table) {
  std::vector<ConfigValue*> numbers;
  for (const std::string_view part : {"rows", "records", "fixed", "expected"}) {
    for (std::size_t i = 0; i < table.document.keys.size(); ++i) {
      if (table.document.keys[i] == part) collect(table.document.items[i], numbers);
    }
  }
  return numbers;
}

std::vector<ConfigValue> impossible() {
  std::vector<ConfigValue> values;
  for (const char* const text : {"0", "-1", "0.5", "1e12", "1e300", "1e999"}) {
    values.emplace_back().kind = ConfigValue::Kind::number;
    values.back().text = text;
  }
  for (const char* const text : {"", "nan", "inf", "many"}) {
    values.emplace_back().kind = ConfigValue::Kind::text;
    values.back().text = text;
  }
  values.emplace_back();  // null
  values.emplace_back().kind = ConfigValue::Kind::list;
  return values;
}

TEST_CASE("tables: the made-up ones are predicted, so that the law below is about something") {
  const Tables tables = read_tables();
  std::size_t points = 0;
  for (const auto& entry : tables) {
    const std::string& id = entry.first;
    if (!predictors().knows(id)) continue;
    CAPTURE(id);
    const Answer answer = read_table(tables, id);
    CHECK_MESSAGE(answer.error.empty(), answer.error);
    check_answer(answer);
    std::size_t own = 0;
    for (const TableResult& result : answer.results) {
      own += result.points.size();
      for (const SkippedRow& row : result.skipped) {
        CHECK_MESSAGE(false, "row " << row.row << ": " << row.reason);
      }
    }
    CHECK(own > 0);
    points += own;
  }
  CHECK(points >= 70);
  // Every reader and every map has a table here.
  for (const TableReaderInfo* reader : table_readers::all()) {
    CAPTURE(reader->name);
    CHECK(std::any_of(tables.begin(), tables.end(),
                      [reader](const auto& one) { return reader_of(one.first) == reader; }));
  }
  for (const validation::TableMap& map : predictors().maps()) {
    CAPTURE(map.path);
    CHECK(std::any_of(tables.begin(), tables.end(),
                      [&map](const auto& one) { return map.of(one.first) != nullptr; }));
  }
}

TEST_CASE("tables: no number in a table breaks its reader or makes it work longer") {
  const std::vector<ConfigValue> values = impossible();
  Tables tables = read_tables();
  std::size_t tried = 0;
  for (auto& entry : tables) {
    const std::string& id = entry.first;
    auto& table = entry.second;
    for (const std::string& read : read_with(tables, id)) {
      const std::uint64_t usual = read_table(tables, read).work;
      for (ConfigValue* const number : numbers_of(table)) {
        const ConfigValue before = *number;
        for (const ConfigValue& value : values) {
          *number = value;
          const Answer answer = read_table(tables, read);
          INFO(read << ": " << before.text << " of " << id << " became " << value.described());
          check_answer(answer);
          CHECK(answer.work < 4 * usual + 100'000);
          ++tried;
        }
        *number = before;
      }
    }
  }
  MESSAGE(tried << " tables with one odd value");
  CHECK(tried > 5000);
}

}  // namespace
}  // namespace foretrace
