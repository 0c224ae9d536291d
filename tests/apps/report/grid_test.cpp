#include "apps/report/grid.h"

#include <doctest/doctest.h>

namespace foretrace::report {
namespace {

TEST_CASE("columns line up and the widest gives way on a narrow page") {
  Grid grid({Grid::Align::left, Grid::Align::right});
  grid.row({"a", "1"});
  grid.row({std::string(200, 'x'), "20"});
  const std::string text = grid.text(2);
  // 100 columns: 2 indent, 94 name, 2 gap, 2 number; of the name (94 - 3) * 3 / 5 = 54 in front.
  CHECK(text.substr(0, text.find('\n')) == "  a" + std::string(96, ' ') + "1");
  CHECK(text.find(std::string(54, 'x') + "...") != std::string::npos);
  // A wider terminal shows the whole name.
  CHECK(grid.text(2, {.width = 220}).find(std::string(200, 'x')) != std::string::npos);
}

TEST_CASE("prose in a column is broken into lines, not cut") {
  Grid grid({Grid::Align::left, Grid::Align::left});
  grid.break_lines_of(1);
  grid.row({"name", std::string(30, 'a') + " " + std::string(30, 'b')});
  // 40 columns: 4 name, 2 gap, 34 prose.
  CHECK(grid.text(0, {.width = 40}) ==
        "name  " + std::string(30, 'a') + "\n      " + std::string(30, 'b') + "\n");
}

}  // namespace
}  // namespace foretrace::report
