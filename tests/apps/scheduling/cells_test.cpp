#include "models/hardware/catalogue/cells.h"

#include <array>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "tests/apps/support/program.h"

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

TEST_CASE("cells: a column that nobody reads is a mistake, with its place and the nearest name") {
  CHECK(mistake("arrival_s,gpus,duration_s").empty());
  CHECK(mistake("arrival_s,gpus,comment") ==
        "jobs.csv: line 1: column 'comment' is unused, expected one of arrival_s, gpus, "
        "duration_s; \"ignored\" lists columns to skip");
  const std::string told = mistake("arrival_s,gpus,duration");
  CHECK(told.find("jobs.csv: line 1: column 'duration' is unused") == 0);
  CHECK(told.find("did you mean 'duration_s'") != std::string::npos);
  CHECK(mistake("arrival_s,gpus,gpus") == "jobs.csv: line 1: column 'gpus' stands 2 times");
  CHECK(mistake("arrival_s,gpus,").find("column '' is unused") != std::string::npos);
}

TEST_CASE("cells: a cell that nobody takes is a mistake of its row; an empty one is not") {
  const auto cells = parse_csv("a,b\n1,\n\n2,x\n", "jobs.csv");
  REQUIRE(cells.ok());
  CHECK(cells->lines == std::vector<std::size_t>{2, 4});
  CellFields first(*cells, 0);
  CHECK(first.given("a"));
  CHECK(first.finish().ok());
  CellFields second(*cells, 1);
  CHECK(second.number("a", 0, 0, 9) == 2);
  CHECK(second.finish().error().message ==
        "jobs.csv: line 4: b: got 'x', expected nothing: the other cells of the row make it "
        "meaningless");
  CHECK(second.text("b") == "x");
  CHECK(second.finish().ok());
}

/// A table in a file, as another file describes it.
class Table {
 public:
  Table(const std::string& name, const std::string& text) : path_(test::scratch_file(name)) {
    std::ofstream(path_) << text;
  }
  [[nodiscard]] Result<Cells> read(const std::string& rest) const {
    const auto object = parse_config("{\"file\": \"" + path_ + "\"" + rest + "}");
    REQUIRE(object.ok());
    ConfigFields fields(*object, "run.json", "/jobs");
    std::vector<std::string> files;
    auto cells = table_of(fields, known, files);
    if (Status fine = fields.finish(); !fine.ok()) return std::move(fine).error();
    return cells;
  }
  [[nodiscard]] std::string mistake(const std::string& rest) const {
    const auto cells = read(rest);
    if (cells.ok()) return "";
    const std::string& message = cells.error().message;
    return message.starts_with(path_ + ": ") ? message.substr(path_.size() + 2) : message;
  }

 private:
  std::string path_;
};

TEST_CASE("cells: columns get the names that we know, and are passed over only by name") {
  const Table table("users.csv", "gpus,n,when,note\n1,4,5,x\n");
  const auto read = table.read(R"(, "columns": {"arrival_s": "when"}, "ignored": ["n", "note"])");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read->columns == std::vector<std::string>{"gpus", "arrival_s"});
  CHECK(read->rows == std::vector<std::vector<std::string>>{{"1", "5"}});
  // What is passed over is called as the file calls it.
  const auto other =
      table.read(R"(, "columns": {"gpus": "n", "arrival_s": "when"}, "ignored": ["gpus", "note"])");
  REQUIRE_MESSAGE(other.ok(), other.error().message);
  CHECK(other->rows == std::vector<std::vector<std::string>>{{"4", "5"}});
  CHECK(table.mistake("").find("line 1: column 'n' is unused") == 0);
  CHECK(table.mistake(R"(, "ignored": ["not"])") ==
        "line 1: no column 'not' (did you mean 'note'?)");
  CHECK(table.mistake(R"(, "columns": {"gpu": "n"})") ==
        "run.json: /jobs/columns: got the column 'gpu', expected one of arrival_s, gpus, "
        "duration_s (did you mean 'gpus'?)");
  CHECK(table.mistake(R"(, "columns": {"arrival_s": "n", "duration_s": "n"})") ==
        "line 1: column 'n' is assigned to both arrival_s and duration_s");
}

TEST_CASE("cells: names that are exchanged are exchanged") {
  const Table table("swapped.csv", "gpus,arrival_s\n1,4\n");
  const auto cells = table.read(R"(, "columns": {"gpus": "arrival_s", "arrival_s": "gpus"})");
  REQUIRE_MESSAGE(cells.ok(), cells.error().message);
  CHECK(cells->columns == std::vector<std::string>{"arrival_s", "gpus"});
}

TEST_CASE("cells: a table of JSON has texts for names, plain cells and nothing else") {
  const auto mistake_of = [](const std::string& text) {
    return Table("table.json", text).mistake("");
  };
  CHECK(mistake_of(R"({"columns": ["gpus"], "rows": [[1], [null], ["2"]]})").empty());
  CHECK(mistake_of(R"({"columns": ["gpus"], "rows": [], "note": 1})").find("/note': unknown key") !=
        std::string::npos);
  CHECK(mistake_of(R"({"columns": ["gpus", 3], "rows": []})") ==
        "/columns/1: got the number 3, expected a text");
  CHECK(mistake_of(R"({"columns": ["gpus"], "rows": [[1], [[2]]]})") ==
        "/rows/1: gpus: got a list, expected a number, a text or null");
}

}  // namespace
}  // namespace foretrace::scheduling
