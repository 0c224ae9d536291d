#include "sim/core/text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

namespace foretrace {
namespace {

constexpr std::size_t most_adjectives = 3;

/// "passes" -> "pass", "copies" -> "copy", "kernels" -> "kernel"; empty for words that are none.
std::string singular(std::string_view word) {
  if (word.size() < 4 || !word.ends_with('s') || word.ends_with("ss") || word.ends_with("us")) {
    return {};
  }
  if (word.ends_with("ies")) return std::string(word.substr(0, word.size() - 3)) + "y";
  for (const std::string_view end : {"sses", "ches", "shes", "xes"}) {
    if (word.ends_with(end)) return std::string(word.substr(0, word.size() - 2));
  }
  return std::string(word.substr(0, word.size() - 1));
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-'; }

bool ends_counting(std::string_view word) {
  for (const std::string_view one :
       {"of", "to", "in", "and", "or", "at", "with", "for", "from", "is", "are", "on", "than"}) {
    if (word == one) return true;
  }
  return word.empty();
}

/// The plural that a lone 1 before `text` counts: where it begins, and how long it is; 0: none.
struct Counted {
  std::size_t at = 0;
  std::size_t size = 0;
};
Counted counted(std::string_view text) {
  std::size_t at = 0;
  for (std::size_t words = 0; words <= most_adjectives; ++words) {
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (ends_counting(word)) return {};
    if (!singular(word).empty()) return {at, word.size()};
    if (end >= text.size() || text[end] != ' ') return {};
    at = end + 1;
  }
  return {};
}

}  // namespace

std::string with_singulars(std::string_view text) {
  std::string out;
  std::size_t done = 0;
  while (true) {
    const std::size_t one = text.find("1 ", done);
    if (one == std::string_view::npos) break;
    const std::size_t rest = one + 2;
    out += text.substr(done, rest - done);
    done = rest;
    const char before = one == 0 ? ' ' : text[one - 1];
    const Counted noun = before == ' ' || before == '(' ? counted(text.substr(rest)) : Counted{};
    if (noun.size == 0) continue;
    out += text.substr(rest, noun.at);
    out += singular(text.substr(rest + noun.at, noun.size));
    done = rest + noun.at + noun.size;
  }
  out += text.substr(done);
  return out;
}

std::string four_digit_time(double ns) {
  constexpr double all_four_digits_ms = 9999.5e6;  // rounds to 10,000 ms
  const double magnitude = std::abs(ns);
  if (!(magnitude >= all_four_digits_ms)) return fmt::format("{:.4g} ms", ns * 1e-6);
  const int digits = static_cast<int>(std::floor(std::log10(magnitude * 1e-9))) + 1;
  return fmt::format("{:.{}f} s", ns * 1e-9, std::clamp(4 - digits, 0, 2));
}

}  // namespace foretrace
