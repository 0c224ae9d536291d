// Pages of sections as cards of a web page.
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "apps/report/writers.h"
#include "sim/core/hidden_text.h"
#include "sim/core/utf8.h"

namespace foretrace::report {
namespace {

constexpr std::ptrdiff_t widest_still = 6;  // columns that a card of the page holds

bool is_on_web(Show show) { return show == Show::always || show == Show::details; }

/// One character for HTML; `text` loses it.
std::string next_character(std::string_view& text) {
  const std::size_t bytes = first_code_point(text).bytes;
  const bool shows = bytes == 1 || (bytes > 1 && hidden_length(text) == 0);
  const std::string_view one = text.substr(0, std::max<std::size_t>(bytes, 1));
  text.remove_prefix(one.size());
  if (!shows) return std::string(utf8_replacement);
  switch (one.front()) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: break;
  }
  const bool controls = static_cast<unsigned char>(one.front()) < 0x20U || one.front() == 0x7F;
  return controls ? "?" : std::string(one);
}

struct TablePlace {
  const Section& section;
  const Table& table;
};

std::string cell_html(const TablePlace& place, const Row& row, std::size_t column,
                      std::size_t level) {
  const std::int64_t own = place.table.columns[column].scale_ns;
  const std::int64_t scale = std::max<std::int64_t>(0, own != 0 ? own : place.section.scale_ns);
  const bool known = column < row.cells.size();
  const std::string text = known ? html_text(shown_text(row.cells[column], scale)) : std::string();
  if (column == 0) {
    return fmt::format("<td{}><bdi>{}</bdi></td>", level > 0 ? " class=\"below\"" : "", text);
  }
  const bool is_words = known && row.cells[column].is_known() && !is_figure(row.cells[column]);
  return fmt::format("<td{}>{}</td>", is_words ? " class=\"words\"" : "", text);
}

std::string row_html(const TablePlace& place, const Row& row, std::size_t level) {
  if (!is_on_web(row.show)) return {};
  std::string html = "<tr>";
  for (std::size_t i = 0; i < place.table.columns.size(); ++i) {
    if (is_on_web(place.table.columns[i].show)) html += cell_html(place, row, i, level);
  }
  html += "</tr>\n";
  for (const Row& below : row.below) html += row_html(place, below, level + 1);
  return html;
}

std::string table_html(const Section& section, const Table& table) {
  const bool empty = std::none_of(table.rows.begin(), table.rows.end(),
                                  [](const Row& row) { return is_on_web(row.show); });
  if (empty || !is_on_web(table.show)) return {};
  // What scrolls sideways must be reached with the keyboard in browsers that do not see to it.
  const auto shown = std::count_if(table.columns.begin(), table.columns.end(),
                                   [](const Column& column) { return is_on_web(column.show); });
  const std::string& name = table.title.empty() ? section.title : table.title;
  std::string html =
      shown > widest_still
          ? fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">",
                        html_text(name.empty() ? section.key : name))
          : "<div class=\"scroll\">";
  html += "<table><thead><tr>";
  bool is_first = true;
  for (const Column& column : table.columns) {
    if (!is_on_web(column.show)) continue;
    const std::string& title = is_first && column.title.empty() ? table.title : column.title;
    is_first = false;
    if (title.empty()) {
      html += "<td></td>";
      continue;
    }
    html += fmt::format("<th scope=\"col\"{}>{}</th>", column.is_prose ? " class=\"words\"" : "",
                        html_text(title));
  }
  html += "</tr></thead><tbody>\n";
  std::size_t rows = 0;
  for (const Row& row : table.rows) {
    if (is_on_web(row.show) && rows++ < table.longest) html += row_html({section, table}, row, 0);
  }
  return html + "</tbody></table></div>\n";
}

std::string section_html(const Section& section) {
  std::string facts;
  for (const Fact& fact : section.facts) {
    if (fact.label.empty() || !is_on_web(fact.show)) continue;
    facts += fmt::format("<dt>{}</dt><dd><bdi>{}</bdi></dd>\n", html_text(fact.label),
                         html_text(shown_text(fact.value, section.scale_ns)));
  }
  std::string html = facts.empty() ? facts : "<dl>\n" + facts + "</dl>\n";
  for (const Table& table : section.tables) html += table_html(section, table);
  for (const Note& note : section.notes) {
    if (!is_on_web(note.show)) continue;
    html += fmt::format("<p class=\"hint\">{}{}</p>\n",
                        note.strong.empty() ? "" : "<b>" + html_text(note.strong) + "</b>",
                        html_text(note.text, 2000));
  }
  return html;
}

}  // namespace

std::string html_text(std::string_view text, std::size_t most) {
  std::string html;
  std::size_t count = 0;
  while (!text.empty() && count++ < most) html += next_character(text);
  return text.empty() ? html : html + "\xE2\x80\xA6";
}

std::string html_of(const Page& page) {
  std::string html;
  for (const Section& section : page.sections) {
    if (!is_on_web(section.show)) continue;
    std::string body = section_html(section);
    for (const std::string& line : {section.headline, section.remark}) {
      if (!line.empty()) body.insert(0, "<p><b>" + html_text(line, 2000) + "</b></p>\n");
    }
    if (body.empty()) continue;
    if (!section.title.empty()) body.insert(0, "<h3>" + html_text(section.title) + "</h3>\n");
    html += body;
  }
  for (const Page& part : page.parts) html += html_of(part);
  return html;
}

}  // namespace foretrace::report
