// Rows of cells in columns that line up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "apps/report/section.h"
#include "apps/report/text.h"

namespace foretrace::report {

/// Rows of cells in aligned columns. Where a line would not fit the page, prose is broken into
/// lines, then goes below its row; titles are broken; columns without which the table still answers
/// are left out and named; the longest names give way; the last columns go below their rows, each
/// with its title as a word. A figure is never cut.
class Grid {
 public:
  enum class Align : std::uint8_t { left, right };
  struct Column {
    Align align = Align::left;
    Narrow narrow = Narrow::kept;
    bool is_prose = false;   ///< broken into lines where it is too long
    bool is_change = false;  ///< coloured by its sign
  };

  explicit Grid(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void row(std::vector<std::string> cells) { rows_.push_back({std::move(cells)}); }
  /// Titles of what follows.
  void titles(std::vector<std::string> cells) { rows_.push_back({std::move(cells), true}); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Every line starts with `indent` spaces; trailing spaces are cut.
  [[nodiscard]] std::string text(std::size_t indent, const TextStyle& style = {}) const;

 private:
  struct Line {
    std::vector<std::string> cells;
    bool has_titles = false;
  };
  struct Fit;
  [[nodiscard]] Fit fit(std::size_t room) const;
  [[nodiscard]] std::string line(const Line& row, const Fit& fit, std::size_t indent,
                                 const TextStyle& style) const;
  [[nodiscard]] std::string below(const Line& row, const Fit& fit, std::size_t indent,
                                  std::size_t width) const;
  [[nodiscard]] std::size_t lines_beside(std::size_t column, std::size_t width) const;
  [[nodiscard]] std::size_t lines_below(std::size_t column, std::size_t room) const;
  [[nodiscard]] static std::size_t indent_of(const Line& row);
  [[nodiscard]] std::string title_of(std::size_t column) const;

  std::vector<Column> columns_;
  std::vector<Line> rows_;
};

}  // namespace foretrace::report
