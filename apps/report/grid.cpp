#include "apps/report/grid.h"

#include <algorithm>
#include <string_view>

namespace foretrace::report {
namespace {

// Columns lie this far apart.
constexpr std::size_t column_gap = 2;

std::string padded(const std::string& cell, std::size_t width, Grid::Align align) {
  const std::string space(width - std::min(width, width_of(cell)), ' ');
  return align == Grid::Align::left ? cell + space : space + cell;
}

/// Takes `excess` from the columns on the left, always from the widest one.
void narrow(std::vector<std::size_t>& widths, const std::vector<Grid::Align>& columns,
            std::size_t excess) {
  constexpr std::size_t narrowest = 8;
  for (; excess > 0; --excess) {
    std::size_t widest = columns.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (columns[i] == Grid::Align::left &&
          (widest == columns.size() || widths[i] > widths[widest])) {
        widest = i;
      }
    }
    if (widest == columns.size() || widths[widest] <= narrowest) return;
    --widths[widest];
  }
}

}  // namespace

void Grid::row(std::vector<std::string> cells, bool is_strong) {
  rows_.push_back({std::move(cells), is_strong});
}

std::string Grid::text(std::size_t indent, const TextStyle& style) const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const Line& line : rows_) {
    for (std::size_t i = 0; i < line.cells.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(line.cells[i]));
    }
  }
  std::size_t total = indent;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    total += widths[i] + (i > 0 && widths[i] > 0 ? column_gap : 0);
  }
  if (total > style.width) narrow(widths, columns_, total - style.width);
  std::string out;
  for (const Line& row : rows_) {
    if (prose_ < row.cells.size() && width_of(row.cells[prose_]) > widths[prose_]) {
      out += broken(row, widths, indent, style);
      continue;
    }
    out += line(row, widths, indent, style);
  }
  return out;
}

/// The row with the first line of its prose, and the others below it.
std::string Grid::broken(const Line& row, const std::vector<std::size_t>& widths,
                         std::size_t indent, const TextStyle& style) const {
  std::string text = paragraph("", row.cells[prose_], widths[prose_]);
  std::string out;
  Line part = row;
  while (!text.empty()) {
    part.cells[prose_] = text.substr(0, text.find('\n'));
    text.erase(0, part.cells[prose_].size() + 1);
    out += line(part, widths, indent, style);
    for (std::string& cell : part.cells) cell.clear();
  }
  return out;
}

std::string Grid::line(const Line& row, const std::vector<std::size_t>& widths, std::size_t indent,
                       const TextStyle& style) const {
  std::string line(indent, ' ');
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if (widths[i] == 0) continue;  // a column without any text
    line += i == 0 ? "" : std::string(column_gap, ' ');
    const std::string cell = padded(shorten(row.cells[i], widths[i]), widths[i], columns_[i]);
    const std::size_t front = std::min(cell.find_first_not_of(' '), cell.size());
    const std::size_t back = cell.find_last_not_of(' ') + 1;
    line += row.is_strong && front < back
                ? cell.substr(0, front) + style.strong(cell.substr(front, back - front)) +
                      cell.substr(back)
                : cell;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace foretrace::report
