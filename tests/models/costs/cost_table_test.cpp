#include "models/costs/cost_table.h"

#include <string>

#include <doctest/doctest.h>

using foretrace::costing::CostTable;

namespace {

std::string document(const char* rows) {
  return std::string(R"({"schema": "foretrace.kernel_table/1", "rows": [)") + rows + "]}";
}

foretrace::WorkAmount numbers(double count) {
  foretrace::WorkAmount amount;
  amount.numbers = count;
  return amount;
}

}  // namespace

TEST_CASE("cost table: two rows within reach are weighted by the inverse of their distance") {
  const auto table = CostTable::parse(document(R"(
      {"operator": "f", "numbers": 100, "time": "100 ns"},
      {"operator": "f", "numbers": 400, "time": "1600 ns"})"),
                                      "t");
  REQUIRE_MESSAGE(table.ok(), table.error().message);
  // 200 is as far from both: the geometric mean of 1 and 4 ns per number.
  const auto entry = table->look_up("f", numbers(200), 4);
  CHECK(entry.found == CostTable::Found::interpolated);
  CHECK(entry.ns == doctest::Approx(400));
  CHECK(table->look_up("f", numbers(2000), 4).found == CostTable::Found::out_of_reach);
  CHECK(table->look_up("g", numbers(100), 4).found == CostTable::Found::no_row);
}

TEST_CASE("cost table: rows that make no sense are refused with their place") {
  for (const char* row :
       {R"({"operator": "f", "time": "1 us"})",
        R"({"operator": "f", "m": 1, "n": 1, "time": "1 us"})",
        R"({"operator": "f", "numbers": 1, "m": 1, "n": 1, "k": 1, "time": "1 us"})",
        R"({"operator": "f", "numbers": 1, "time": "0 us"})", R"({"numbers": 1, "time": "1 us"})",
        R"({"operator": "f", "numbers": 1, "time": 1})",
        R"({"operator": "f", "numbers": 1, "time": "1 us", "colour": "red"})", "7",
        R"({"operator": "f", "numbers": 1e300, "time": "1 us"})"}) {
    CAPTURE(std::string(row));
    const auto table = CostTable::parse(document(row), "t");
    REQUIRE_FALSE(table.ok());
    CHECK(table.error().message.find("/rows/0") != std::string::npos);
  }
  CHECK_FALSE(CostTable::parse(R"({"schema": "foretrace.kernel_table/1"})", "t").ok());
}
