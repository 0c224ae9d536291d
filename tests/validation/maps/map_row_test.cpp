#include "tests/validation/maps/map_row.h"

#include <string>

#include <doctest/doctest.h>

namespace foretrace::validation {
namespace {

Result<MapRow> row_of(const std::string& columns, const std::string& cell) {
  const auto map = parse_table_map(
      R"({"schema": "foretrace.table_map/1", "tables": ["t"], "run": {"let": {"chips": "=size"}},
          "columns": {"hardware": )" +
          columns + R"(}, "points": [{"column": "hardware", "is": "time"}]})",
      "t.json");
  REQUIRE_MESSAGE(map.ok(), map.error().message);
  TruthTable table{.id = "t", .path = "t", .columns = {"hardware"}, .document = {}};
  table.document = parse_config(R"({"rows": [[")" + cell + R"("]]})").value();
  return read_map_row(*map, table, 0);
}

const std::string slices = R"({"pattern": "{slices}x {chip}-{size}", "columns": {
    "slices": {"count": 1000}, "size": {"count": 1000},
    "chip": {"words": {"v4": {"let": {"chips": "=size / 2"}}, "v5e": {}}}}})";

TEST_CASE("map rows: a pattern's columns are read as those of a row") {
  for (const double count : {1.0, 4.0, 256.0}) {
    for (const double size : {2.0, 128.0}) {
      const auto text = [](double value) { return std::to_string(static_cast<int>(value)); };
      const auto v4 = row_of(slices, text(count) + "x v4-" + text(size));
      REQUIRE_MESSAGE(v4.ok(), v4.error().message);
      CHECK(v4->numbers.at("slices") == count);
      CHECK(v4->numbers.at("chips") == size / 2);
      CHECK(v4->texts.at("chip") == "v4");
      CHECK(row_of(slices, text(count) + "x v5e-" + text(size))->numbers.at("chips") == size);
    }
  }
}

TEST_CASE("map rows: a text of another pattern, or a part that cannot be, is told") {
  const auto told = [](const std::string& cell) {
    const auto row = row_of(slices, cell);
    REQUIRE_FALSE(row.ok());
    return row.error().message;
  };
  const std::string expected = ", expected one like '{slices}x {chip}-{size}'";
  for (const std::string cell : {"4 v4-128", "4x v4", "x v4-128", "4x -128", "4x v4-"}) {
    CHECK(told(cell) == "hardware: got '" + cell + "'" + expected);
  }
  CHECK(told("") == "hardware: got nothing" + expected);
  CHECK(told("0x v4-128") == "slices: got the number 0, expected a whole number from 1 to 1000");
  CHECK(told("4x v4-many").starts_with("size: got 'many'"));
  CHECK(told("4x of-128") == "chip: got 'of', expected one of v4, v5e");
}

TEST_CASE("map rows: of several patterns the first that fits counts") {
  const std::string both = R"({"pattern": ["{size} chips, {old} old", "{size} chips"], "columns": {
      "size": {"count": 1000}, "old": {"count": 1000, "standard": 7}}})";
  CHECK(row_of(both, "8 chips, 3 old")->numbers.at("old") == 3);
  CHECK(row_of(both, "8 chips")->numbers.at("old") == 7);
  CHECK_FALSE(row_of(both, "8 chips, 3").ok());
}

}  // namespace
}  // namespace foretrace::validation
