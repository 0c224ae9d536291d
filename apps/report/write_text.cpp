// Pages of sections as text.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apps/report/grid.h"
#include "apps/report/writers.h"

namespace foretrace::report {
namespace {

// Longer lines of prose are hard to read, however wide the terminal is.
constexpr std::size_t prose_width = 120;
// Labels of facts stand in a column at least this wide.
constexpr std::size_t least_label = 9;

/// What ends the first line of a low-confidence answer.
std::string doubt_of(const Section& section) {
  return section.doubt.empty() ? std::string() : ", low confidence: " + printable(section.doubt);
}

class TextWriter {
 public:
  explicit TextWriter(const TextStyle& style)
      : style_(style), prose_(std::min(style.width, prose_width)) {}

  std::string page(const Page& page) {
    out_.clear();
    last_ = Block::nothing;
    label_width_ = least_label;
    for (const Section& section : page.sections) {
      if (!shows(section.show)) continue;
      headline(section);
      for (const Fact& fact : section.facts) {
        if (!fact.label.empty() && shows(fact.show)) {
          label_width_ = std::max(label_width_, fact.label.size());
        }
      }
    }
    for (const Section& section : page.sections) {
      if (shows(section.show)) write(section);
    }
    return std::move(out_);
  }

 private:
  enum class Block { nothing, headline, facts, titled };

  [[nodiscard]] bool shows(Show show) const {
    return show == Show::always || show == (style_.details ? Show::details : Show::brief);
  }

  /// A line as a paragraph, further ones below its first word; without the line end.
  [[nodiscard]] std::string broken(const std::string& line) const {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    std::string text = paragraph(line.substr(0, indent), line.substr(indent), prose_);
    text.pop_back();
    return text;
  }

  void headline(const Section& section) {
    if (section.headline.empty()) return;
    std::string doubt = doubt_of(section);
    for (const std::string& line : lines_of(section.headline)) {
      const std::string text = broken(line);
      const bool has_room = width_of(text) + width_of(doubt) <= style_.width;
      if (!doubt.empty() && !has_room) doubt = ", low confidence";
      out_ += style_.strong(text) + (doubt.empty() ? "" : style_.warning(doubt)) + "\n";
      doubt.clear();
    }
    for (const std::string& line : lines_of(section.remark)) {
      out_ += style_.warning(broken(line)) + "\n";
    }
    last_ = Block::headline;
  }

  /// A blank line, unless facts continue facts.
  void begin(Block block) {
    if (last_ != Block::nothing && !(last_ == Block::facts && block == Block::facts)) out_ += "\n";
    last_ = block;
  }

  void write(const Section& section) {
    const bool has_title = !section.title.empty();
    const bool has_table =
        std::any_of(section.tables.begin(), section.tables.end(),
                    [this](const Table& table) { return shows(table.show) && !is_empty(table); });
    const bool has_facts =
        std::any_of(section.facts.begin(), section.facts.end(),
                    [this](const Fact& fact) { return !fact.label.empty() && shows(fact.show); });
    const bool has_notes = std::any_of(section.notes.begin(), section.notes.end(),
                                       [this](const Note& note) { return shows(note.show); });
    if (has_facts) {
      begin(has_title && !has_table ? Block::titled : Block::facts);
      if (has_title && !has_table) out_ += style_.strong(section.title) + "\n";
      for (const Fact& fact : section.facts) write(fact, section.scale_ns);
    }
    if (has_table) {
      begin(Block::titled);
      out_ += tables(section);
    } else if (has_notes && !has_facts) {
      begin(Block::titled);
      if (has_title) out_ += style_.strong(section.title) + "\n";
    }
    for (const Note& note : section.notes) write(note);
  }

  void write(const Fact& fact, std::int64_t scale_ns) {
    if (fact.label.empty() || !shows(fact.show)) return;
    const std::string lead = fmt::format("  {:<{}} ", fact.label, label_width_);
    const std::string text =
        paragraph(lead, printable(shown_text(fact.value, scale_ns)) + fact.typed, prose_);
    out_ +=
        fact.warns
            ? lead + style_.warning(text.substr(lead.size(), text.size() - lead.size() - 1)) + "\n"
            : text;
  }

  void write(const Note& note) {
    if (!shows(note.show)) return;
    std::string text = paragraph(note.lead, note.strong + printable(note.text), prose_);
    if (!note.strong.empty()) {
      text.replace(note.lead.size(), note.strong.size(), style_.strong(note.strong));
    }
    out_ += note.warns ? style_.warning(text.substr(0, text.size() - 1)) + "\n" : text;
  }

  [[nodiscard]] bool is_empty(const Table& table) const {
    return std::none_of(table.rows.begin(), table.rows.end(),
                        [this](const Row& row) { return shows(row.show); });
  }

  [[nodiscard]] std::vector<std::size_t> shown_columns(const Table& table) const {
    std::vector<std::size_t> columns;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (shows(table.columns[i].show)) columns.push_back(i);
    }
    return columns;
  }

  /// All tables of a section in one grid; only the first shows the titles of its columns.
  std::string tables(const Section& section) {
    std::vector<Grid::Column> layout;
    for (const Table& table : section.tables) {
      if (!shows(table.show) || is_empty(table)) continue;
      const std::vector<std::size_t> columns = shown_columns(table);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const Column& column = table.columns[columns[i]];
        if (i == layout.size()) layout.push_back({align_of(section, i), column.narrow});
        layout[i].is_prose = layout[i].is_prose || column.is_prose;
        // The word for time and memory against the run before: less is better.
        layout[i].is_change = layout[i].is_change || column.title == "change";
      }
    }
    Grid grid(layout);
    bool is_first = true;
    for (const Table& table : section.tables) {
      if (!shows(table.show) || is_empty(table)) continue;
      const std::vector<std::size_t> columns = shown_columns(table);
      std::vector<std::string> head(layout.size());
      head[0] = table.title.empty() ? section.title : table.title;
      for (std::size_t i = is_first ? 1 : layout.size(); i < columns.size(); ++i) {
        head[i] = table.columns[columns[i]].title;
      }
      if (head[0].empty() && is_first) head[0] = table.columns[columns[0]].title;
      if (std::any_of(head.begin(), head.end(), [](const auto& cell) { return !cell.empty(); })) {
        grid.titles(std::move(head));
      }
      is_first = false;
      rows(grid, {section, table, columns, layout.size()});
    }
    return grid.text(0, style_);
  }

  /// Figures stand on the right: the first known value of the column says what it holds.
  [[nodiscard]] Grid::Align align_of(const Section& section, std::size_t column) const {
    for (const Table& table : section.tables) {
      if (!shows(table.show)) continue;
      const std::vector<std::size_t> columns = shown_columns(table);
      if (column >= columns.size()) continue;
      for (const Row& row : table.rows) {
        if (!shows(row.show) || columns[column] >= row.cells.size()) continue;
        const Value& value = row.cells[columns[column]];
        if (value.is_known()) return is_figure(value) ? Grid::Align::right : Grid::Align::left;
      }
    }
    return column == 0 ? Grid::Align::left : Grid::Align::right;
  }

  struct Place {
    const Section& section;
    const Table& table;
    const std::vector<std::size_t>& columns;
    std::size_t width;
  };

  void rows(Grid& grid, const Place& place) {
    const std::size_t most =
        style_.details ? place.table.longest : std::min(place.table.brief, place.table.longest);
    std::size_t shown = 0;
    std::vector<const Row*> rest;
    for (const Row& row : place.table.rows) {
      if (!shows(row.show)) continue;
      if (shown++ < most) {
        add(grid, place, row, 1);
      } else {
        rest.push_back(&row);
      }
    }
    if (rest.empty()) return;
    std::vector<std::string> cells(place.width);
    cells[0] = fmt::format("  ... {} more", count_text(rest.size()));
    for (std::size_t i = 1; i < place.columns.size(); ++i) {
      if (place.table.columns[place.columns[i]].adds_up) {
        cells[i] = cell(place, i, sum_of(rest, place.columns[i]));
      }
    }
    grid.row(std::move(cells));
  }

  static Value sum_of(const std::vector<const Row*>& rows, std::size_t column) {
    Value sum;
    for (const Row* const row : rows) {
      if (column >= row->cells.size()) continue;
      const Value& value = row->cells[column];
      if (!sum.is_known()) {
        sum = value;
      } else if (auto* const whole = std::get_if<std::int64_t>(&sum.held); whole != nullptr) {
        *whole += std::get<std::int64_t>(value.held);
      } else if (auto* const real = std::get_if<double>(&sum.held); real != nullptr) {
        *real += std::get<double>(value.held);
      }
    }
    return sum;
  }

  [[nodiscard]] static std::string cell(const Place& place, std::size_t i, const Value& value) {
    const std::int64_t own = place.table.columns[place.columns[i]].scale_ns;
    return shown_text(value, own < 0 ? 0 : own > 0 ? own : place.section.scale_ns);
  }

  void add(Grid& grid, const Place& place, const Row& row, std::size_t level) {
    if (!shows(row.show)) return;
    std::vector<std::string> cells(place.width);
    for (std::size_t i = 0; i < place.columns.size(); ++i) {
      if (place.columns[i] < row.cells.size())
        cells[i] = cell(place, i, row.cells[place.columns[i]]);
    }
    cells[0].insert(0, 2 * level, ' ');
    grid.row(std::move(cells));
    for (const Row& below : row.below) add(grid, place, below, level + 1);
  }

  const TextStyle& style_;
  std::size_t prose_;
  std::string out_;
  Block last_ = Block::nothing;
  std::size_t label_width_ = least_label;
};

}  // namespace

std::string headlines_of(const Page& page) {
  std::string lines;
  for (const Section& section : page.sections) {
    if (section.show != Show::always) continue;
    std::string doubt = doubt_of(section);
    for (const std::string& line : lines_of(section.headline)) {
      lines += line + std::exchange(doubt, {}) + "\n";
    }
  }
  for (const Page& part : page.parts) lines += headlines_of(part);
  return lines;
}

std::string text_of(const Page& page, const TextStyle& style) {
  std::string text = TextWriter(style).page(page);
  if (page.brief_hides_parts && !style.details) return text;
  for (const Page& part : page.parts) {
    text += (text.empty() ? "" : "\n") + text_of(part, style);
  }
  return text;
}

}  // namespace foretrace::report
