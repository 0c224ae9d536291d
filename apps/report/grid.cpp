#include "apps/report/grid.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace foretrace::report {
namespace {

// Columns lie this far apart.
constexpr std::size_t column_gap = 2;
// Words of up to this length stay on one line, as does "2136.8 .. 2501.7 ms".
constexpr std::size_t longest_whole = 24;
// Names longer than the first give way before columns go; than the second, after those to leave
// out.
constexpr std::size_t long_name = 44;
constexpr std::size_t least_name = 32;
// No column of names is made narrower.
constexpr std::size_t narrowest = 8;

/// Where a line may be broken first: behind a space, but not between a figure and its unit, and
/// with `at_underscores` behind those.
std::size_t end_of_word(std::string_view text, bool at_underscores) {
  constexpr std::array<std::string_view, 9> units = {"%", "ns",  "us",  "ms", "s",
                                                     "B", "KiB", "MiB", "GiB"};
  std::size_t at = 0;
  while ((at = text.find_first_of(at_underscores ? " _" : " ", at)) != std::string_view::npos) {
    const std::string_view rest = text.substr(at + 1);
    const std::string_view next = rest.substr(0, rest.find_first_of(" ,;)"));
    const bool is_unit = at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9' &&
                         std::find(units.begin(), units.end(), next) != units.end();
    if (!is_unit) return at + 1;
    at += 1 + next.size();
  }
  return text.size();
}

/// Lines of at most `width` characters.
std::vector<std::string> broken_lines(std::string_view text, std::size_t width,
                                      bool at_underscores) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, end_of_word(text, at_underscores));
    const std::size_t length = width_of(part) - (part.back() == ' ' ? 1 : 0);
    if (!line.empty() && width_of(line) + length > width) {
      line.erase(line.find_last_not_of(' ') + 1);
      lines.push_back(std::exchange(line, {}));
    }
    line += part;
    text.remove_prefix(part.size());
  }
  line.erase(line.find_last_not_of(' ') + 1);
  if (!line.empty()) lines.push_back(std::move(line));
  for (std::string& one : lines) one = shorten(one, width);
  return lines;
}

bool is_blank(std::string_view cell) {
  return cell.find_first_not_of(' ') == std::string_view::npos;
}

/// Of a title that is broken behind spaces and underscores.
std::size_t longest_part(std::string_view title) {
  std::size_t longest = 0;
  while (!title.empty()) {
    const std::string_view part = title.substr(0, title.find_first_of(" _"));
    title.remove_prefix(std::min(title.size(), part.size() + 1));
    longest = std::max(longest, width_of(part) + 1);  // with the underscore
  }
  return longest;
}

}  // namespace

/// Where each column stands, and how wide it is.
struct Grid::Fit {
  enum class Place : std::uint8_t { in_line, below, left_out };
  std::vector<std::size_t> widths;
  std::vector<Place> places;
  std::vector<bool> is_prose;

  [[nodiscard]] bool is_in_line(std::size_t column) const {
    return places[column] == Place::in_line && widths[column] > 0;
  }
  [[nodiscard]] std::size_t total() const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (is_in_line(i)) sum += widths[i] + (sum > 0 ? column_gap : 0);
    }
    return sum;
  }
  /// What does not fit.
  [[nodiscard]] std::size_t excess(std::size_t room) const {
    const std::size_t sum = total();
    return sum - std::min(sum, room);
  }
  void narrow(std::size_t column, std::size_t least, std::size_t room) {
    if (!is_in_line(column) || widths[column] <= least) return;
    widths[column] -= std::min(widths[column] - least, excess(room));
  }
  /// The last column in line, or 0.
  [[nodiscard]] std::size_t last() const {
    for (std::size_t i = widths.size(); i-- > 1;) {
      if (is_in_line(i)) return i;
    }
    return 0;
  }
  [[nodiscard]] bool has(Place place) const {
    return std::find(places.begin(), places.end(), place) != places.end();
  }
};

Grid::Fit Grid::fit(std::size_t room) const {
  const std::size_t count = columns_.size();
  Fit fit{std::vector<std::size_t>(count, 0), std::vector(count, Fit::Place::in_line),
          std::vector<bool>(count, false)};
  std::vector<std::size_t> least(count, 0);  // with titles in lines
  for (const Line& row : rows_) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const std::size_t width = is_blank(row.cells[i]) ? 0 : width_of(row.cells[i]);
      fit.widths[i] = std::max(fit.widths[i], width);
      least[i] = std::max(least[i], row.has_titles ? longest_part(row.cells[i]) : width);
    }
  }
  const std::vector<std::size_t> natural = fit.widths;
  std::vector<bool>& is_prose = fit.is_prose;
  for (std::size_t i = 0; i < count; ++i) {
    is_prose[i] = columns_[i].is_prose ||
                  (i > 0 && columns_[i].align == Align::left && fit.widths[i] > longest_whole);
  }
  const auto is_too_wide = [&] { return fit.excess(room) > 0; };
  const auto narrow_prose = [&] {
    for (std::size_t i = 0; i < count; ++i) {
      if (is_prose[i]) fit.narrow(i, longest_whole, room);
    }
  };
  narrow_prose();
  const std::size_t last = fit.last();
  if (last > 0 && is_prose[last] &&
      (is_too_wide() || lines_below(last, room) < lines_beside(last, fit.widths[last]))) {
    fit.places[last] = Fit::Place::below;
    fit.widths = natural;
    narrow_prose();
  }
  fit.narrow(0, long_name, room);
  for (std::size_t i = count; i-- > 0 && is_too_wide();) {
    fit.narrow(i, std::max(least[i], is_prose[i] ? longest_whole : 0), room);
  }
  const auto move = [&](Narrow which, Fit::Place place, std::size_t name) {
    for (std::size_t i = count; i-- > 1;) {
      const std::size_t spare = fit.widths[0] - std::min(fit.widths[0], name);
      if (fit.excess(room) <= spare) return;
      if (columns_[i].narrow == which && fit.is_in_line(i)) fit.places[i] = place;
    }
  };
  move(Narrow::left_out, Fit::Place::left_out, long_name);
  move(Narrow::below, Fit::Place::below, least_name);
  move(Narrow::kept, Fit::Place::below, least_name);
  if (count > 0) fit.narrow(0, narrowest, room);
  // What is left over goes to prose and to titles, the last first.
  for (std::size_t i = count; i-- > 0;) {
    if (!fit.is_in_line(i)) continue;
    const std::size_t spare = room - std::min(room, fit.total());
    fit.widths[i] += std::min(spare, natural[i] - fit.widths[i]);
  }
  return fit;
}

/// Lines that prose adds to those of its rows, in a column this wide or below them.
std::size_t Grid::lines_beside(std::size_t column, std::size_t width) const {
  std::size_t lines = 0;
  for (const Line& row : rows_) {
    if (row.has_titles || column >= row.cells.size() || is_blank(row.cells[column])) continue;
    lines += broken_lines(row.cells[column], width, false).size() - 1;
  }
  return lines;
}

std::size_t Grid::lines_below(std::size_t column, std::size_t room) const {
  std::size_t lines = 0;
  for (const Line& row : rows_) {
    if (row.has_titles || column >= row.cells.size() || is_blank(row.cells[column])) continue;
    lines +=
        broken_lines(row.cells[column], room - std::min(room, indent_of(row) + 2), false).size();
  }
  return lines;
}

std::size_t Grid::indent_of(const Line& row) {
  return row.cells.empty() ? 0 : std::min(row.cells[0].find_first_not_of(' '), row.cells[0].size());
}

std::string Grid::title_of(std::size_t column) const {
  for (const Line& row : rows_) {
    if (row.has_titles && column < row.cells.size() && !row.cells[column].empty()) {
      return row.cells[column];
    }
  }
  return {};
}

std::string Grid::text(std::size_t indent, const TextStyle& style) const {
  const Fit fit = this->fit(style.width - std::min(style.width, indent));
  std::string out;
  for (const Line& row : rows_) {
    out += line(row, fit, indent, style);
    if (!row.has_titles) out += below(row, fit, indent, style.width);
  }
  if (fit.has(Fit::Place::left_out)) {
    std::string names;
    std::size_t hidden = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (fit.places[i] != Fit::Place::left_out || fit.widths[i] == 0) continue;
      names += (names.empty() ? "" : ", ") + title_of(i);
      ++hidden;
    }
    out += paragraph(std::string(indent + 2, ' '),
                     fmt::format("{} hidden ({}): widen the terminal, or use --csv",
                                 plural(hidden, "column"), names),
                     style.width);
  }
  return out;
}

/// What stands below a row for lack of room: prose, and other cells with their titles.
std::string Grid::below(const Line& row, const Fit& fit, std::size_t indent,
                        std::size_t width) const {
  std::string words;
  for (std::size_t i = 1; i < row.cells.size(); ++i) {
    if (fit.places[i] != Fit::Place::below || is_blank(row.cells[i])) continue;
    const std::string title = fit.is_prose[i] ? std::string() : title_of(i);
    words += (words.empty() ? "" : ", ") + (title.empty() ? title : title + " ") + row.cells[i];
  }
  if (words.empty()) return {};
  return paragraph(std::string(indent + indent_of(row) + 2, ' '), printable(words), width);
}

std::string Grid::line(const Line& row, const Fit& fit, std::size_t indent,
                       const TextStyle& style) const {
  // A cell in more than one line: prose and titles; titles stand on the ground.
  std::vector<std::vector<std::string>> cells(row.cells.size());
  std::size_t height = 1;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if (!fit.is_in_line(i)) continue;
    const std::size_t width = fit.widths[i];
    const bool is_one = width_of(row.cells[i]) <= width || (!row.has_titles && !fit.is_prose[i]);
    const std::size_t own = i == 0 ? std::min(indent_of(row), width - 1) : 0;  // of parts of rows
    cells[i] = is_one ? std::vector{shorten(row.cells[i], width)}
                      : broken_lines(printable(std::string_view(row.cells[i]).substr(own)),
                                     width - own, row.has_titles);
    if (!is_one) {
      for (std::string& part : cells[i]) part.insert(0, own, ' ');
    }
    height = std::max(height, cells[i].size());
  }
  std::string out;
  for (std::size_t at = 0; at < height; ++at) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (!fit.is_in_line(i)) continue;
      const std::size_t first = row.has_titles ? height - cells[i].size() : 0;
      const bool is_there = at >= first && at - first < cells[i].size();
      const std::string text = is_there ? cells[i][at - first] : std::string();
      const std::string space(fit.widths[i] - std::min(fit.widths[i], width_of(text)), ' ');
      const std::string shown = row.has_titles          ? style.strong(text)
                                : columns_[i].is_change ? style.change(text)
                                                        : text;
      line += i == 0 ? "" : std::string(column_gap, ' ');
      line += columns_[i].align == Align::left ? shown + space : space + shown;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace foretrace::report
