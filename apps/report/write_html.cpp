// Pages of sections as cards of a web page.
#include <algorithm>
#include <array>
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

struct Sign {
  std::string_view plain;
  std::string_view sign;
};
/// In the order in which they are looked for.
constexpr std::array<Sign, 5> signs = {{{" .. ", " to "},
                                        {" -> ", " \u2192 "},
                                        {" x ", " \u00d7 "},
                                        {"+-", "\u00b1"},
                                        {" us", " \u00b5s"}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Whether a sign of the list stands at a place: units behind figures, all others anywhere.
bool stands_at(const Sign& sign, std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with(sign.plain)) return false;
  if (sign.plain != " us") return true;
  const std::size_t end = at + sign.plain.size();
  return at > 0 && is_digit(text[at - 1]) && (end == text.size() || !is_letter(text[end]));
}

/// A minus before a figure that begins a word, no hyphen.
bool is_minus(std::string_view text, std::size_t at) {
  const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '(';
  return text[at] == '-' && begins && at + 1 < text.size() && is_digit(text[at + 1]);
}

/// A place in the document of a page, as a JSON pointer; empty: it has none.
std::string inside(std::string_view place, std::string_view key) {
  if (key.empty()) return {};
  std::string pointer = fmt::format("{}/", place);
  for (const char c : key) {
    if (c == '~') pointer += "~0";
    if (c == '/') pointer += "~1";
    if (c != '~' && c != '/') pointer += c;
  }
  return pointer;
}

std::string place_of(const Section& section) {
  return section.path.empty() ? std::string() : "/" + section.path;
}

/// Says of a value where the document has it, so that a test can compare the two.
std::string source_html(const Value& value, const std::string& key_place) {
  const std::string& place = value.source.empty() ? key_place : value.source;
  const bool may_tell = value.is_known() && value.unit != Unit::flag &&
                        shown_text(value).find_first_of("0123456789") != std::string::npos;
  return place.empty() || !may_tell ? std::string()
                                    : fmt::format(" data-at=\"{}\"", html_text(place));
}

/// A name of code, as a recording has it, and no words of ours.
bool is_code(std::string_view text) {
  return text.find("::") != std::string_view::npos ||
         text.find_first_of("_<#") != std::string_view::npos;
}

/// Text of ours: what stands between two backticks is code.
std::string prose_html(std::string_view text) {
  constexpr std::size_t most = 2000;
  const std::string told = with_signs(text);
  std::string html;
  for (std::string_view rest = told; !rest.empty();) {
    const std::size_t begin = rest.find('`');
    const std::size_t end = begin == std::string_view::npos ? begin : rest.find('`', begin + 1);
    if (end == std::string_view::npos) return html + html_text(rest, most);
    html += fmt::format("{}<code>{}</code>", html_text(rest.substr(0, begin), most),
                        html_text(rest.substr(begin + 1, end - begin - 1), most));
    rest.remove_prefix(end + 1);
  }
  return html;
}

struct TablePlace {
  const Section& section;
  const Table& table;
  bool has_one_key = false;  ///< rows of the document are single values
};

TablePlace place_of(const Section& section, const Table& table) {
  const auto keyed = std::count_if(table.columns.begin(), table.columns.end(),
                                   [](const Column& column) { return !column.key.empty(); });
  return {section, table, table.is_object && keyed == 1};
}

/// Of a row: an object, or the element of a list.
struct RowPlace {
  std::string at;  ///< in the document; empty: on pages only
  std::size_t level = 0;
};

std::string cell_html(const TablePlace& place, const Row& row, std::size_t column,
                      const RowPlace& where) {
  const std::int64_t own = place.table.columns[column].scale_ns;
  const std::int64_t scale = std::max<std::int64_t>(0, own != 0 ? own : place.section.scale_ns);
  const Value value = column < row.cells.size() ? row.cells[column] : Value{};
  const std::string& key = place.table.columns[column].key;
  const std::string told = shown_text(value, scale);
  const std::string text = html_text(with_signs(told));
  std::string at;
  if (!where.at.empty() && !key.empty()) {
    at = place.has_one_key ? where.at : inside(where.at, key);
  }
  const std::string source = source_html(value, at);
  if (column == 0) {
    return fmt::format("<td{}{}><bdi{}>{}</bdi></td>", where.level > 0 ? " class=\"below\"" : "",
                       source, is_code(told) ? " class=\"code\"" : "", text);
  }
  const bool is_words = value.is_known() && !is_figure(value);
  return fmt::format("<td{}{}>{}</td>", is_words ? " class=\"words\"" : "", source, text);
}

std::string rows_html(const TablePlace& place, const std::vector<Row>& rows,
                      const std::string& list, std::size_t level);

std::string row_html(const TablePlace& place, const Row& row, const RowPlace& where) {
  if (!is_on_web(row.show)) return {};
  std::string html = "<tr>";
  for (std::size_t i = 0; i < place.table.columns.size(); ++i) {
    if (is_on_web(place.table.columns[i].show)) html += cell_html(place, row, i, where);
  }
  html += "</tr>\n";
  const std::string below =
      where.at.empty() ? std::string() : inside(where.at, place.table.below_key);
  return html + rows_html(place, row.below, below, where.level + 1);
}

/// `list`: where the document has them; empty: nowhere.
std::string rows_html(const TablePlace& place, const std::vector<Row>& rows,
                      const std::string& list, std::size_t level) {
  std::string html;
  std::size_t number = 0;  // of those in the document
  std::size_t shown = 0;
  for (const Row& row : rows) {
    std::string at;
    if (!list.empty() && !row.is_for_pages) {
      const bool is_object = place.table.is_object && level == 0;
      at = inside(list == "/" ? "" : list, is_object ? row.key : std::to_string(number++));
    }
    if (level == 0 && is_on_web(row.show) && shown++ >= place.table.longest) continue;
    html += row_html(place, row, {at, level});
  }
  return html;
}

/// Where the document has the rows of a table; "/": it is all that the document is.
std::string list_of(const Section& section, const Table& table) {
  if (table.key != ".") return inside(place_of(section), table.key);
  return section.path.empty() ? "/" : place_of(section);
}

/// Its head stands to the left then, as its cells do.
bool holds_words(const Table& table, std::size_t column) {
  return std::ranges::any_of(table.rows, [&](const Row& row) {
    return column < row.cells.size() && row.cells[column].is_known() &&
           !is_figure(row.cells[column]);
  });
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
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    if (!is_on_web(column.show)) continue;
    const bool is_left = column.is_prose || holds_words(table, i);
    const std::string& title = is_first && column.title.empty() ? table.title : column.title;
    is_first = false;
    if (title.empty()) {
      html += "<td></td>";
      continue;
    }
    html += fmt::format("<th scope=\"col\"{}>{}</th>", is_left ? " class=\"words\"" : "",
                        html_text(title));
  }
  html += "</tr></thead><tbody>\n";
  html += rows_html(place_of(section, table), table.rows, list_of(section, table), 0);
  return html + "</tbody></table></div>\n";
}

std::string section_html(const Section& section) {
  std::string facts;
  for (const Fact& fact : section.facts) {
    if (fact.label.empty() || !is_on_web(fact.show)) continue;
    facts += fmt::format("<dt>{}</dt><dd{}><bdi>{}</bdi></dd>\n", html_text(fact.label),
                         source_html(fact.value, inside(place_of(section), fact.key)),
                         html_text(with_signs(shown_text(fact.value, section.scale_ns))));
  }
  std::string html = facts.empty() ? facts : "<dl>\n" + facts + "</dl>\n";
  for (const Table& table : section.tables) html += table_html(section, table);
  for (const Note& note : section.notes) {
    if (!is_on_web(note.show)) continue;
    html += fmt::format("<p class=\"hint\">{}{}</p>\n",
                        note.strong.empty() ? "" : "<b>" + html_text(note.strong) + "</b>",
                        prose_html(note.text));
  }
  return html;
}

}  // namespace

std::string with_signs(std::string_view text) {
  std::string told;
  for (std::size_t at = 0; at < text.size();) {
    const auto* const sign =
        std::ranges::find_if(signs, [&](const Sign& each) { return stands_at(each, text, at); });
    if (sign != signs.end()) {
      told += sign->sign;
      // the blank behind one may be that before the next
      at += sign->plain.size() - (sign->plain.ends_with(' ') ? 1 : 0);
      if (sign->plain.ends_with(' ')) told.pop_back();
    } else if (is_minus(text, at)) {
      told += "\u2212";
      ++at;
    } else {
      told += text[at++];
    }
  }
  return told;
}

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
    std::string head;
    for (const std::string& line : lines_of(section.headline)) {
      head += "<p><b>" + prose_html(line) + "</b></p>\n";
    }
    for (const std::string& line : lines_of(section.remark)) {
      const std::string_view words =
          std::string_view(line).substr(std::min(line.find_first_not_of(' '), line.size()));
      head += "<p>" + prose_html(words) + "</p>\n";
    }
    body.insert(0, head);
    if (body.empty()) continue;
    if (!section.title.empty()) body.insert(0, "<h3>" + html_text(section.title) + "</h3>\n");
    html += body;
  }
  for (const Page& part : page.parts) html += html_of(part);
  return html;
}

}  // namespace foretrace::report
