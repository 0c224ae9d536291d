#include "apps/explorer/docs/markdown.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace foretrace::explorer {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

bool is_safe_address(std::string_view address) {
  if (address.starts_with("https://")) return true;
  return !address.starts_with("//") && address.find(':') == std::string_view::npos;
}

/// "(address)" behind "[words]": words, address, and where it ends; npos: it is none.
struct Link {
  std::string_view words;
  std::string_view address;
  std::size_t end = std::string_view::npos;
};

Link link_at(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  std::size_t close = at;
  for (; close < text.size(); ++close) {
    depth += text[close] == '[' ? 1 : 0;
    if (text[close] == ']' && --depth == 0) break;
  }
  if (close + 1 >= text.size() || text[close + 1] != '(') return {};
  const std::size_t end = text.find(')', close + 2);
  if (end == std::string_view::npos) return {};
  return {text.substr(at + 1, close - at - 1), text.substr(close + 2, end - close - 2), end + 1};
}

std::string inline_html(std::string_view text, const LinkTarget& target, int depth = 0);

/// Text between two equal marks, "**" or "*"; moves `at` behind it. Empty: there is no second one.
std::string between_marks(std::string_view text, std::size_t& at, std::string_view mark,
                          const LinkTarget& target, int depth) {
  const std::string_view tag = mark.size() == 2 ? "strong" : "em";
  const std::size_t from = at + mark.size();
  const std::size_t to = text.find(mark, from);
  if (to == std::string_view::npos || to == from || text[from] == ' ') return {};
  at = to + mark.size();
  return fmt::format("<{0}>{1}</{0}>", tag,
                     inline_html(text.substr(from, to - from), target, depth + 1));
}

/// "[words](address)" or a picture; only its words where the address leads nowhere.
std::string link_html(const Link& link, bool is_picture, const LinkTarget& target, int depth) {
  const bool is_relative = !link.address.starts_with("https://") && !link.address.starts_with('#');
  const std::string address =
      target && is_relative ? target(link.address) : std::string(link.address);
  if (is_picture) {
    return address.empty()
               ? escaped(link.words)
               : fmt::format("<img src=\"{}\" alt=\"{}\">", escaped(address), escaped(link.words));
  }
  const std::string words = inline_html(link.words, target, depth + 1);
  return address.empty() ? words : fmt::format("<a href=\"{}\">{}</a>", escaped(address), words);
}

/// What begins at `at`, if it is more than a character; moves `at` behind it.
std::string piece_at(std::string_view text, std::size_t& at, const LinkTarget& target, int depth) {
  const std::string_view rest = text.substr(at);
  if (rest.front() == '`') {
    const std::size_t end = text.find('`', at + 1);
    if (end == std::string_view::npos) return {};
    const std::string_view code = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return "<code>" + escaped(code) + "</code>";
  }
  const bool is_picture = rest.starts_with("![");
  if (is_picture || rest.front() == '[') {
    const Link link = link_at(text, at + (is_picture ? 1 : 0));
    if (link.end == std::string_view::npos || !is_safe_address(link.address)) return {};
    at = link.end;
    return link_html(link, is_picture, target, depth);
  }
  if (rest.starts_with("**")) return between_marks(text, at, "**", target, depth);
  return rest.front() == '*' ? between_marks(text, at, "*", target, depth) : std::string();
}

std::string inline_html(std::string_view text, const LinkTarget& target, int depth) {
  constexpr int deepest = 8;
  if (depth > deepest) return escaped(text);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (std::string piece = piece_at(text, at, target, depth); !piece.empty()) {
      out += piece;
    } else {
      out += escaped(text.substr(at++, 1));
    }
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    lines.push_back(line);
  }
  return lines;
}

/// Cells of "| a | `b | c` |": a bar inside of code parts none.
std::vector<std::string_view> cells_of(std::string_view row) {
  row = trimmed(row);
  if (row.starts_with('|')) row.remove_prefix(1);
  if (row.ends_with('|')) row.remove_suffix(1);
  std::vector<std::string_view> cells;
  std::size_t from = 0;
  bool is_code = false;
  for (std::size_t i = 0; i <= row.size(); ++i) {
    if (i < row.size() && row[i] == '`') is_code = !is_code;
    if (i < row.size() && (row[i] != '|' || is_code)) continue;
    cells.push_back(trimmed(row.substr(from, i - from)));
    from = i + 1;
  }
  return cells;
}

/// "- a" and "1. a": what stands behind the mark; npos: it is no item.
std::size_t item_begin(std::string_view line) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  std::string_view rest = line.substr(indent);
  if (rest.starts_with("- ") || rest.starts_with("* ")) return indent + 2;
  std::size_t digits = 0;
  while (digits < rest.size() && std::isdigit(static_cast<unsigned char>(rest[digits])) != 0) {
    ++digits;
  }
  return digits > 0 && rest.substr(digits).starts_with(". ") ? indent + digits + 2
                                                             : std::string_view::npos;
}

class MarkdownBlocks {
 public:
  MarkdownBlocks(std::string_view text, const LinkTarget& target)
      : lines_(lines_of(text)), target_(target) {}

  std::string run() {
    while (at_ < lines_.size()) block();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string_view line() const { return lines_[at_]; }
  [[nodiscard]] bool begins_block() const {
    const std::string_view text = trimmed(line());
    return text.empty() || text.starts_with('#') || text.starts_with("```") ||
           text.starts_with('|') || item_begin(line()) != std::string_view::npos;
  }

  void block() {
    const std::string_view text = trimmed(line());
    if (text.empty()) {
      ++at_;
    } else if (text.starts_with("```")) {
      code();
    } else if (text.starts_with('#')) {
      heading(text);
    } else if (text.starts_with('|')) {
      table();
    } else if (item_begin(line()) != std::string_view::npos) {
      list();
    } else {
      out_ += "<p>" + inline_html(paragraph(), target_) + "</p>\n";
    }
  }

  /// The lines up to the next block, as one.
  std::string paragraph() {
    std::string words(trimmed(lines_[at_++]));
    while (at_ < lines_.size() && !begins_block()) {
      words += " ";
      words += trimmed(lines_[at_++]);
    }
    return words;
  }

  void heading(std::string_view text) {
    constexpr std::size_t least = 6;
    const std::size_t level = std::min(text.find_first_not_of('#'), least);
    const std::string_view words = trimmed(text.substr(std::min(level, text.size())));
    std::string id;
    for (const char c : words) {
      const bool is_word = std::isalnum(static_cast<unsigned char>(c)) != 0;
      if (is_word) id += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      if (c == ' ' || c == '-') id += '-';
    }
    const std::size_t shown = std::max<std::size_t>(1, level);
    out_ += fmt::format("<h{0} id=\"{1}\">{2}</h{0}>\n", shown, id, inline_html(words, target_));
    ++at_;
  }

  void code() {
    out_ += "<pre tabindex=\"0\"><code>";  // the keyboard scrolls what is wide
    for (++at_; at_ < lines_.size() && !trimmed(line()).starts_with("```"); ++at_) {
      out_ += escaped(line()) + "\n";
    }
    if (at_ < lines_.size()) ++at_;
    out_ += "</code></pre>\n";
  }

  void table() {
    out_ += "<div class=\"scroll\" tabindex=\"0\"><table>\n";
    std::vector<bool> is_number;  // by column: its rule ends with a colon
    if (at_ + 1 < lines_.size() && is_rule(lines_[at_ + 1])) {
      for (const std::string_view cell : cells_of(lines_[at_ + 1])) {
        is_number.push_back(trimmed(cell).ends_with(':'));
      }
    }
    for (bool is_head = true; at_ < lines_.size() && trimmed(line()).starts_with('|');
         ++at_, is_head = false) {
      if (is_rule(line())) continue;
      out_ += "<tr>";
      std::size_t column = 0;
      for (const std::string_view cell : cells_of(line())) {
        // an empty cell is the head of nothing
        const std::string_view tag = is_head && !trimmed(cell).empty() ? "th" : "td";
        const bool is_right = column < is_number.size() && is_number[column];
        out_ += fmt::format("<{0}{1}>{2}</{0}>", tag, is_right ? " class=\"number\"" : "",
                            inline_html(cell, target_));
        ++column;
      }
      out_ += "</tr>\n";
    }
    out_ += "</table></div>\n";
  }

  /// The line between the head of a table and its rows.
  static bool is_rule(std::string_view text) {
    return trimmed(text).starts_with('|') &&
           trimmed(text).find_first_not_of("|-: ") == std::string_view::npos;
  }

  void list() {
    const bool is_ordered = std::isdigit(static_cast<unsigned char>(trimmed(line()).front())) != 0;
    out_ += is_ordered ? "<ol>\n" : "<ul>\n";
    while (at_ < lines_.size()) {
      const std::size_t begin = item_begin(line());
      if (begin == std::string_view::npos) break;
      std::string words(line().substr(begin));
      for (++at_; at_ < lines_.size() && !begins_block(); ++at_) {
        words += " ";
        words += trimmed(line());
      }
      out_ += "<li>" + inline_html(words, target_) + "</li>\n";
    }
    out_ += is_ordered ? "</ol>\n" : "</ul>\n";
  }

  std::vector<std::string_view> lines_;
  const LinkTarget& target_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string html_of_markdown(std::string_view text, const LinkTarget& target) {
  return MarkdownBlocks(text, target).run();
}

std::string title_of_markdown(std::string_view text) {
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with("# ")) return std::string(trimmed(line.substr(2)));
  }
  return {};
}

}  // namespace foretrace::explorer
