#include "apps/report/grid.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace foretrace::report {
namespace {

const Grid::Column name{};
const Grid::Column figure{.align = Grid::Align::right};
const Grid::Column prose{.is_prose = true};

TEST_CASE("columns line up and a name longer than the page gives way") {
  Grid grid({name, figure});
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
  Grid grid({name, prose});
  grid.row({"name", std::string(30, 'a') + " " + std::string(30, 'b')});
  // 40 columns: 4 name, 2 gap, 34 prose.
  CHECK(grid.text(0, {.width = 40}) ==
        "name  " + std::string(30, 'a') + "\n      " + std::string(30, 'b') + "\n");
}

TEST_CASE("prose stands below its row where its column would be narrow") {
  Grid grid({name, figure, prose});
  grid.titles({"what", "time", "why"});
  grid.row({"  one", "1000.0 ms", "more than 32 characters of prose, in words"});
  grid.row({"  two", "1.0 ms", ""});
  // 5 name, 2 gap, 9 figure, 2 gap: 23 of 41 columns are left, less than the 24 that prose wants.
  CHECK(grid.text(0, {.width = 41}) ==
        "what        time\n"
        "  one  1000.0 ms\n"
        "    more than 32 characters of prose, in\n"
        "    words\n"
        "  two     1.0 ms\n");
  // With one more it stands beside its row, in as many lines.
  CHECK(grid.text(0, {.width = 42}) ==
        "what        time  why\n"
        "  one  1000.0 ms  more than 32 characters\n"
        "                  of prose, in words\n"
        "  two     1.0 ms\n");
}

TEST_CASE("a figure in prose is not parted from its unit") {
  Grid grid({name, prose});
  grid.row({"name", "32 x 821.7 us -> 32 x 596.4 us"});
  // 6 name and gap, 25 prose: "596.4" would fit the first line, "596.4 us" does not.
  CHECK(grid.text(0, {.width = 31}) == "name  32 x 821.7 us -> 32 x\n      596.4 us\n");
}

TEST_CASE("what a table answers without is left out and named before a name or a range is cut") {
  const Grid::Column extra{.align = Grid::Align::right, .narrow = Narrow::left_out};
  Grid grid({name, figure, name, extra, extra});
  grid.titles({"what-if", "step", "range", "live peak", "change"});
  grid.row({"  remove_synchronization", "2528.6 ms", "2440.5 .. 2620.1 ms", "4.6 GiB", "same"});
  const std::string wide = grid.text(0, {.width = 80});  // 24 + 2 + 9 + 2 + 19 + 2 + 9 + 2 + 6 = 75
  CHECK(wide.find("same") != std::string::npos);
  CHECK(wide.find("hidden") == std::string::npos);
  // 65 without the last column.
  CHECK(grid.text(0, {.width = 70}) ==
        "what-if                        step  range                live peak\n"
        "  remove_synchronization  2528.6 ms  2440.5 .. 2620.1 ms    4.6 GiB\n"
        "  1 column hidden (change): widen the terminal, or use --csv\n");
  CHECK(grid.text(0, {.width = 56}) ==
        "what-if                        step  range\n"
        "  remove_synchronization  2528.6 ms  2440.5 .. 2620.1 ms\n"
        "  2 columns hidden (live peak, change): widen the\n"
        "  terminal, or use --csv\n");
}

TEST_CASE("figures that have no room stand below their rows with their titles, never cut") {
  const Grid::Column axis{.align = Grid::Align::right, .narrow = Narrow::below};
  Grid grid({name, axis, axis, figure});
  grid.titles({"point", "tensor", "schedule", "step_ns"});
  grid.row({"  1", "4", "interleaved", "36.74 s"});
  // 5 + 2 + 6 + 2 + 11 + 2 + 7 = 35
  CHECK(grid.text(0, {.width = 30}) ==
        "point  tensor  step_ns\n"
        "  1         4  36.74 s\n"
        "    schedule interleaved\n");
}

TEST_CASE("no line is wider than the page, whatever the cells are") {
  for (std::size_t columns = 1; columns < 9; ++columns) {
    for (std::size_t length = 1; length < 70; length += 7) {
      std::vector<Grid::Column> layout(columns, figure);
      layout[0] = name;
      layout[columns / 2] = prose;
      Grid grid(layout);
      std::vector<std::string> cells(columns, std::string(std::min<std::size_t>(length, 12), '7'));
      cells[0] = std::string(length, 'n');
      cells[columns / 2] = std::string(length, 'p') + " " + std::string(length / 2, 'q');
      grid.titles(std::vector<std::string>(columns, "a title_of three"));
      grid.row(cells);
      const std::string text = grid.text(0, {.width = 60});
      for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
        INFO(columns << " columns, cells of " << length << "\n" << text);
        // A single word of prose is longer than the page at most here: 69 and its indent.
        CHECK(text.find('\n', at) - at <= std::max<std::size_t>(60, length + 2));
      }
    }
  }
}

}  // namespace
}  // namespace foretrace::report
