// Rows of cells in columns that line up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "apps/report/text.h"

namespace foretrace::report {

/// Rows of cells in aligned columns.
class Grid {
 public:
  enum class Align : std::uint8_t { left, right };

  explicit Grid(std::vector<Align> columns) : columns_(std::move(columns)) {}
  void row(std::vector<std::string> cells, bool is_strong = false);
  /// The cells of this column are broken into lines where they are too long, not cut.
  void break_lines_of(std::size_t column) { prose_ = column; }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Every line starts with `indent` spaces; trailing spaces are cut. Columns on the left are
  /// shortened, widest first, if a line would not fit the page.
  [[nodiscard]] std::string text(std::size_t indent, const TextStyle& style = {}) const;

 private:
  struct Line {
    std::vector<std::string> cells;
    bool is_strong = false;
  };
  [[nodiscard]] std::string line(const Line& row, const std::vector<std::size_t>& widths,
                                 std::size_t indent, const TextStyle& style) const;
  [[nodiscard]] std::string broken(const Line& row, const std::vector<std::size_t>& widths,
                                   std::size_t indent, const TextStyle& style) const;

  std::vector<Align> columns_;
  std::vector<Line> rows_;
  std::size_t prose_ = static_cast<std::size_t>(-1);
};

}  // namespace foretrace::report
