// Typography of the program.
#include "apps/report/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "sim/core/hidden_text.h"
#include "sim/core/utf8.h"
#include "sim/core/whole.h"

namespace foretrace::report {
namespace {

/// Bytes of the first `width` characters.
std::size_t bytes_of(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  while (at < text.size() && width > 0) {
    ++at;
    while (at < text.size() && is_utf8_continuation(text[at])) {
      ++at;
    }
    --width;
  }
  return at;
}

/// Leaves out what stands in brackets right behind a name: "f<g(int)>(x)" -> "f<g>".
std::string without_arguments(std::string_view name) {
  constexpr std::string_view anonymous = "(anonymous namespace)";
  std::string text;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (depth == 0 && c == '(' && !text.empty() && text.back() != ' ' && text.back() != ',' &&
        name.substr(i, anonymous.size()) != anonymous) {
      depth = 1;
    } else if (depth > 0) {
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    } else {
      text += c;
    }
  }
  return depth == 0 ? text : std::string(name);
}

void erase_all(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
}

}  // namespace

std::string quantity_in_words(std::string_view name) {
  if (name.ends_with("_ns")) {
    name.remove_suffix(3);
    return in_words(name) + " time";
  }
  if (name.ends_with("_bytes")) name.remove_suffix(6);
  return in_words(name);
}

std::string in_words(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::size_t width_of(std::string_view text) { return utf8_characters(text); }

namespace {

// Decimals that no two different values need more of: ns in s, bytes in TiB.
constexpr int most_decimals = 14;

struct TimeUnit {
  std::string_view name;
  double ns;
  int decimals;
};

/// Four digits, thousands by unit.
TimeUnit time_unit(double scale) {
  if (scale < 1e3) return {"ns", 1, 0};
  if (scale < 1e6) return {"us", 1e3, 1};
  if (scale < 1e9) return {"ms", 1e6, scale < 1e7 ? 3 : scale < 1e8 ? 2 : 1};
  return {"s", 1e9, scale < 1e10 ? 3 : scale < 1e11 ? 2 : 1};
}

std::string time_with(std::int64_t ns, std::int64_t scale_ns, int more) {
  const auto value = static_cast<double>(ns);
  TimeUnit unit = time_unit(std::abs(static_cast<double>(scale_ns)));
  // What is not nothing is not shown as nothing.
  if (ns != 0 && std::abs(value / unit.ns) < 0.5 * std::pow(10, -unit.decimals)) {
    unit = time_unit(std::abs(value));
  }
  return fmt::format("{:.{}f} {}", value / unit.ns, unit.decimals + more, unit.name);
}

std::string bytes_with(std::int64_t bytes, int more) {
  constexpr std::array<std::string_view, 5> names = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; std::abs(value) >= 1024 && unit + 1 < names.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes)
                   : fmt::format("{:.{}f} {}", value, 1 + more, names[unit]);
}

/// Both texts, with as many decimals as tell them apart.
template <typename Text>
Ends distinct(std::int64_t low, std::int64_t high, const Text& text) {
  Ends ends{text(low, 0), text(high, 0)};
  for (int more = 1; low != high && ends.low == ends.high && more <= most_decimals; ++more) {
    ends = {text(low, more), text(high, more)};
  }
  return ends;
}

}  // namespace

std::string time_text(std::int64_t ns, std::int64_t scale_ns) { return time_with(ns, scale_ns, 0); }

Ends time_ends(std::int64_t low_ns, std::int64_t high_ns, std::int64_t scale_ns) {
  return distinct(low_ns, high_ns,
                  [scale_ns](std::int64_t ns, int more) { return time_with(ns, scale_ns, more); });
}

Ends bytes_ends(std::int64_t low, std::int64_t high) { return distinct(low, high, bytes_with); }

std::string time_text(std::int64_t ns) { return time_text(ns, ns); }

std::string percent_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string signed_percent_text(double share) {
  const int decimals = std::abs(share) < 0.0095 ? 2 : 1;
  // A share that rounds to zero has no sign.
  return std::abs(share) < 0.5e-4 ? std::string("0.00 %")
                                  : fmt::format("{:+.{}f} %", 100 * share, decimals);
}

std::string count_text(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3; at -= 3) {
    text.insert(at - 3, ",");
  }
  return text;
}

namespace {

/// With three digits, none of them lost to an exponent.
std::string three_digits(double per_second) {
  if (!(per_second > 0)) return "0";
  const int decimals = 2 - static_cast<int>(std::floor(std::log10(per_second)));
  return fmt::format("{:.{}f}", per_second, std::clamp(decimals, 0, 12));
}

}  // namespace

std::string rate_text(double per_second) {
  constexpr double most = 9e18;  // as a count
  if (!(per_second >= 999.5)) return three_digits(per_second);
  return count_text(static_cast<std::uint64_t>(to_whole(std::min(per_second, most))));
}

std::string rate_text(double per_second, int decimals) {
  if (decimals == 0 && per_second >= 999.5) return rate_text(per_second);
  return per_second < 10 ? three_digits(per_second) : fmt::format("{:.{}f}", per_second, decimals);
}

std::string plural(std::uint64_t count, std::string_view word) {
  if (count == 1) {
    return fmt::format("1 {}", word);
  }
  return word.back() == 'y'
             ? fmt::format("{} {}ies", count_text(count), word.substr(0, word.size() - 1))
             : fmt::format("{} {}s", count_text(count), word);
}

std::string bytes_text(std::int64_t bytes) { return bytes_with(bytes, 0); }

std::string signed_bytes_text(std::int64_t bytes) {
  if (bytes == 0) {
    return "same";
  }
  return (bytes < 0 ? "-" : "+") + bytes_text(bytes < 0 ? -bytes : bytes);
}

namespace {

/// Both with their unit, or once if it is the same.
std::string range_of(Ends ends) {
  const std::size_t unit = ends.low.find(' ');
  const bool is_same = unit != std::string::npos && ends.high.find(' ') != std::string::npos &&
                       ends.low.substr(unit) == ends.high.substr(ends.high.find(' '));
  if (is_same) {
    ends.low.resize(unit);
  }
  return fmt::format("{} .. {}", ends.low, ends.high);
}

}  // namespace

std::string bytes_range_text(std::int64_t low, std::int64_t high) {
  return range_of(bytes_ends(low, high));
}

std::string time_range_text(std::int64_t low_ns, std::int64_t high_ns, std::int64_t scale_ns) {
  return range_of(time_ends(low_ns, high_ns, scale_ns));
}

std::string factor_text(double factor) {
  return factor < 10 ? fmt::format("{:.2f}x", factor) : fmt::format("{:.1f}x", factor);
}

std::string shorten(std::string_view text, std::size_t width) {
  std::string clean = printable(text);
  const std::size_t length = width_of(clean);
  if (length <= width) {
    return clean;
  }
  if (width < 8) {
    return clean.substr(0, bytes_of(clean, width));
  }
  // The front says what it is, the end which variant: three fifths and the rest.
  const std::size_t front = (width - 3) * 3 / 5;
  const std::size_t back = width - 3 - front;
  return clean.substr(0, bytes_of(clean, front)) + "..." +
         clean.substr(bytes_of(clean, length - back));
}

std::string function_text(std::string_view name) {
  if (name.rfind("void ", 0) == 0) {
    name.remove_prefix(5);
  }
  std::string text = without_arguments(name);
  for (const std::string_view common :
       {"at::native::", "(anonymous namespace)::", "{anonymous}::", "at::detail::",
        "::operator const", "::operator", ", Array<char*, 2>", ", Array<char*, 3>",
        ", Array<char*, 4>", " const"}) {
    erase_all(text, common);
  }
  // Lambdas are numbered by the compiler; the function around them says what they do.
  for (std::size_t at = text.find("::{lambda"); at != std::string::npos;
       at = text.find("::{lambda", at)) {
    const std::size_t end = text.find('}', at);
    text.erase(at, end == std::string::npos ? end : end - at + 1);
  }
  for (std::size_t at = text.find(" >"); at != std::string::npos; at = text.find(" >", at)) {
    text.erase(at, 1);
  }
  return text;
}

std::string paragraph(std::string_view first, std::string_view text, std::size_t width) {
  std::string out(first);
  std::size_t column = width_of(first);
  const std::string indent(column, ' ');
  bool line_is_empty = true;
  while (!text.empty()) {
    const std::size_t start = text.find_first_not_of(" \n");
    if (start == std::string_view::npos) {
      break;
    }
    text.remove_prefix(start);
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    text.remove_prefix(word.size());
    if (!line_is_empty && column + 1 + width_of(word) > width) {
      out += "\n" + indent;
      column = indent.size();
      line_is_empty = true;
    }
    if (!line_is_empty) {
      out += ' ';
      ++column;
    }
    out += word;
    column += width_of(word);
    line_is_empty = false;
  }
  return out + "\n";
}

std::string printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const std::size_t hidden = hidden_length(text);
    const bool controls = hidden > 0 || static_cast<unsigned char>(text.front()) < 0x20U;
    clean += controls ? '?' : text.front();
    text.remove_prefix(std::max<std::size_t>(hidden, 1));
  }
  return clean;
}

std::string TextStyle::strong(std::string_view text) const {
  return colour && !text.empty() ? fmt::format("\033[1m{}\033[0m", text) : std::string(text);
}

std::string TextStyle::change(std::string_view text) const {
  const bool is_less = text.find('-') != std::string_view::npos;
  const bool is_more = text.find('+') != std::string_view::npos;
  return colour && is_less != is_more ? fmt::format("\033[{}m{}\033[0m", is_less ? 32 : 31, text)
                                      : std::string(text);
}

std::string TextStyle::warning(std::string_view text) const {
  return colour && !text.empty() ? fmt::format("\033[33m{}\033[0m", text) : std::string(text);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    lines.push_back(printable(line));
  }
  return lines;
}

}  // namespace foretrace::report
