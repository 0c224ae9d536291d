#include "models/hardware/costs/cost_table.h"

#include <string>

#include <doctest/doctest.h>

using foretrace::costing::CostTable;
using foretrace::costing::TableKernel;

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

TEST_CASE("cost table: a row of a kernel means what is alike in all that it states") {
  const auto table = CostTable::parse(document(R"(
      {"kernel": "gemm", "time": "100 ns", "error": 0.5},
      {"kernel": "gemm", "operator": "aten::mm", "grid": [8, 4, 1], "time": "200 ns"},
      {"kernel": "gemm", "operator": "aten::mm", "shapes": "[[8, 8]]", "types": "[\"float\"]",
       "block": [128, 1, 1], "time": "300 ns"})"),
                                      "t");
  REQUIRE_MESSAGE(table.ok(), table.error().message);
  const TableKernel mm{"gemm", "aten::mm", "[[8, 8]]", "[\"float\"]", {8, 4, 1}, {128, 1, 1}};
  CHECK(table->look_up(mm).ns == 300);  // the row that states most of it
  TableKernel other = mm;
  other.block = {256, 1, 1};
  CHECK(table->look_up(other).ns == 200);
  CHECK_FALSE(table->look_up(other).error);
  other.grid = {8, 4, 2};
  CHECK(table->look_up(other).ns == 100);
  CHECK(table->look_up(other).error == 0.5);
  const auto without = CostTable::parse(
      document(R"({"kernel": "gemm", "operator": "", "shapes": "", "time": "1 us"})"), "t");
  REQUIRE_MESSAGE(without.ok(), without.error().message);
  CHECK(without->look_up(mm).found == CostTable::Found::no_row);
  CHECK(without->look_up(TableKernel{.name = "gemm"}).ns == 1000);
  other.name = "gemm2";
  CHECK(table->look_up(other).found == CostTable::Found::no_row);
}

TEST_CASE("cost table: the error of the document is that of rows that state none") {
  const auto table = CostTable::parse(R"({"schema": "foretrace.kernel_table/1", "error": 0.16,
      "rows": [{"operator": "f", "numbers": 100, "time": "1 us"},
               {"operator": "f", "numbers": 200, "time": "2 us", "error": 0.3}]})",
                                      "t");
  REQUIRE_MESSAGE(table.ok(), table.error().message);
  CHECK(table->look_up("f", numbers(100), 1).error == 0.16);
  CHECK(table->look_up("f", numbers(200), 1).error == 0.3);
  CHECK(table->look_up("f", numbers(140), 2).error == 0.3);  // between them the larger one
}

TEST_CASE("cost table: mistakes in rows of kernels are refused with their place") {
  for (const char* row : {R"({"kernel": "", "time": "1 us"})", R"({"kernel": "k"})",
                          R"({"kernel": "k", "time": "1 us", "m": 4})",
                          R"({"kernel": "k", "time": "1 us", "grid": [1, 2]})",
                          R"({"kernel": "k", "time": "1 us", "grid": [1, 2, 0.5]})",
                          R"({"kernel": "k", "time": "1 us", "block": [1, 2, -1]})",
                          R"({"kernel": "k", "time": "1 us", "shapes": [[1]]})",
                          R"({"kernel": "k", "time": "1 us", "error": -0.1})",
                          R"({"kernel": "k", "time": "1 us", "error": "16 %"})"}) {
    CAPTURE(std::string(row));
    const auto table = CostTable::parse(document(row), "t");
    REQUIRE_FALSE(table.ok());
    CHECK(table.error().message.find("/rows/0") != std::string::npos);
  }
  const auto twice = CostTable::parse(
      document(R"({"kernel": "k", "time": "1 us"}, {"kernel": "k", "time": "2 us"})"), "t");
  REQUIRE_FALSE(twice.ok());
  CHECK(twice.error().message ==
        "t: /rows/1: kernel 'k' stands in an earlier row, expected it once");
  const auto sizes =
      CostTable::parse(document(R"({"operator": "f", "m": 8, "n": 4, "k": 2, "time": "1 us"},
      {"operator": "f", "m": 8, "n": 4, "k": 2, "time": "1 ms"})"),
                       "t");
  REQUIRE_FALSE(sizes.ok());
  CHECK(sizes.error().message ==
        "t: /rows/1: operator 'f' stands with these sizes in an earlier row, expected it once");
  const auto free = CostTable::parse(document(R"({"kernel": "k", "time": "0.4 ns"})"), "t");
  REQUIRE_FALSE(free.ok());
  CHECK(free.error().message.find("got 0.4 ns, expected from 1 ns to 11 days") !=
        std::string::npos);
  for (const char* with : {R"("error": 1e9)", R"("errors": 0.1)"}) {
    CHECK_FALSE(CostTable::parse(std::string(R"({"schema": "foretrace.kernel_table/1", )") + with +
                                     R"(, "rows": []})",
                                 "t")
                    .ok());
  }
}

TEST_CASE("cost table: what stands for rows and keys that nobody knows are named") {
  const auto refusal = [](const std::string& members) {
    const auto table =
        CostTable::parse(R"({"schema": "foretrace.kernel_table/1")" + members + "}", "t");
    return table.ok() ? std::string("no error") : table.error().message;
  };
  CHECK(refusal("") == "t: /rows: got no such key, expected a list of rows");
  CHECK(refusal(R"(, "rows": 7)") == "t: /rows: got the number 7, expected a list of rows");
  CHECK(refusal(R"(, "rows": [], "sauce": "")") ==
        "t: '/sauce': unknown key (did you mean 'source'?), expected one of schema, error, source, "
        "rows");
  CHECK(
      refusal(
          R"(, "rows": [{"kernel": "k", "time": "1 us", "block": [1, 1, 1], "blok": [1, 1, 1]}])") ==
      "t: '/rows/0/blok': unknown key (did you mean 'block'?), expected one of kernel, operator, "
      "shapes, types, grid, block, time, error");
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
