#include "apps/driver/scheduler/sources/cells.h"

#include <array>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace foretrace::scheduling {
namespace {

constexpr std::array<std::string_view, 3> known = {"arrival_s", "gpus", "duration_s"};

std::string mistake(const std::string& header) {
  const auto cells = parse_csv(header + "\n0,1,2\n", "jobs.csv");
  REQUIRE_MESSAGE(cells.ok(), cells.error().message);
  const Status fine = check_columns(*cells, known);
  return fine.ok() ? "" : fine.error().message;
}

TEST_CASE("cells: the mark that spreadsheets write before a table is no part of the first name") {
  const auto cells = parse_csv(
      "\xEF\xBB\xBF"
      "arrival_s,gpus\n5,1\n",
      "jobs.csv");
  REQUIRE_MESSAGE(cells.ok(), cells.error().message);
  CHECK(cells->columns.front() == "arrival_s");
  CHECK(cells->rows.size() == 1);
}

TEST_CASE("cells: a column that is meant for one that is missing is a mistake, others are not") {
  CHECK(mistake("arrival_s,gpus,duration_s").empty());
  CHECK(mistake("arrival_s,gpus,comment").empty());
  const std::string told = mistake("arrival_s,gpus,duration");
  CHECK(told.find("jobs.csv: column 'duration'") != std::string::npos);
  CHECK(told.find("did you mean 'duration_s'") != std::string::npos);
}

TEST_CASE("cells: a known column stands once, others as often as users like") {
  const auto told = [](const std::string& header, const std::string& row) {
    const auto cells = parse_csv(header + "\n" + row + "\n", "jobs.csv");
    REQUIRE(cells.ok());
    const Status fine = check_columns(*cells, known);
    return fine.ok() ? "" : fine.error().message;
  };
  CHECK(told("arrival_s,gpus,duration_s,gpus", "0,1,2,3") ==
        "jobs.csv: column 'gpus' stands 2 times");
  CHECK(told("arrival_s,gpus,duration_s,x,x", "0,1,2,3,4").empty());
}

TEST_CASE("cells: a name near a known one is the user's own where the known one is there") {
  const auto cells = parse_csv("gpus,gpu,arrival_s,duration_s\n1,2,3,4\n", "jobs.csv");
  REQUIRE(cells.ok());
  CHECK(check_columns(*cells, known).ok());
}

}  // namespace
}  // namespace foretrace::scheduling
