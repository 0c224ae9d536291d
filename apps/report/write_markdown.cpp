// Pages of sections as Markdown.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/writers.h"

namespace foretrace::report {
namespace {

/// Text that may hold '|' for a cell of a table.
std::string cell_text(std::string text) {
  text = printable(text);
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
    text.insert(at, "\\");
  }
  return text;
}

bool shows(Show show) { return show == Show::always || show == Show::details; }

struct Place {
  const Section& section;
  const Table& table;
};

std::string row_text(const Place& place, const Row& row, std::size_t level) {
  if (!shows(row.show)) return {};
  std::string line = "|";
  for (std::size_t i = 0; i < place.table.columns.size(); ++i) {
    const Column& column = place.table.columns[i];
    if (!shows(column.show)) continue;
    const std::int64_t scale = column.scale_ns != 0 ? column.scale_ns : place.section.scale_ns;
    std::string cell;
    if (i < row.cells.size())
      cell = cell_text(shown_text(row.cells[i], std::max<std::int64_t>(0, scale)));
    for (std::size_t indent = 0; i == 0 && indent < level; ++indent) cell.insert(0, "&emsp;");
    line += " " + cell + " |";
  }
  line += "\n";
  for (const Row& below : row.below) line += row_text(place, below, level + 1);
  return line;
}

std::string table_text(const Section& section, const Table& table) {
  if (table.rows.empty() || !shows(table.show)) return {};
  std::string head = "|";
  std::string rule = "|";
  bool is_first = true;
  for (const Column& column : table.columns) {
    if (!shows(column.show)) continue;
    const std::string& first = table.title.empty() ? section.title : table.title;
    head += " " + cell_text(is_first && column.title.empty() ? first : column.title) + " |";
    rule += "---|";
    is_first = false;
  }
  std::string text = "\n" + head + "\n" + rule + "\n";
  for (const Row& row : table.rows) text += row_text({section, table}, row, 0);
  return text;
}

}  // namespace

std::string markdown_of(const Page& page) {
  std::string text;
  for (const Section& section : page.sections) {
    if (!shows(section.show)) continue;
    if (!section.headline.empty()) text += section.headline + "\n";
    if (!section.remark.empty()) text += section.remark + "\n";
  }
  for (const Section& section : page.sections) {
    if (!shows(section.show)) continue;
    std::string body;
    for (const Fact& fact : section.facts) {
      if (fact.label.empty() || !shows(fact.show)) continue;
      body += fmt::format("- {}: {}\n", fact.label,
                          printable(shown_text(fact.value, section.scale_ns)));
    }
    for (const Table& table : section.tables) body += table_text(section, table);
    for (const Note& note : section.notes) {
      if (shows(note.show)) body += "\n" + note.strong + printable(note.text) + "\n";
    }
    if (body.empty()) continue;
    text += section.title.empty() ? "\n" : fmt::format("\n### {}\n\n", section.title);
    text += body;
  }
  for (const Page& part : page.parts) text += "\n" + markdown_of(part);
  return text;
}

}  // namespace foretrace::report
