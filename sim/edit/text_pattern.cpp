// Regular expressions with bounded cost.
#include "sim/edit/text_pattern.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace::selecting {

namespace {

// Compilation recurses once per parenthesis; a longer expression is no selection by hand.
constexpr std::size_t longest_expression = 1000;
constexpr std::size_t longest_text = 4096;

// Breadth-first matching: no recursion per character and no exponential time. libstdc++ only.
#if defined(__GLIBCXX__)
constexpr auto syntax = std::regex::ECMAScript | std::regex_constants::__polynomial;
#else
constexpr auto syntax = std::regex::ECMAScript;
#endif

/// The words of "gemm|conv"; nothing if the expression is more than that.
std::vector<std::string> plain_words(std::string_view expression) {
  std::vector<std::string> words(1);
  for (const char c : expression) {
    if (std::string_view(R"(\^$.*+?()[]{})").find(c) != std::string_view::npos) return {};
    if (c == '|') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

/// Repetitions such as {2,5} are written out by the engine: what they multiply to bounds its size.
constexpr std::uint64_t most_repetitions = 1000;

/// What the counts in braces multiply to; beyond `most_repetitions` if a number is absurd.
std::uint64_t repetitions(std::string_view expression) {
  std::uint64_t product = 1;
  std::uint64_t number = 0;
  std::size_t digits = 0;
  bool in_braces = false;
  for (const char c : expression) {
    if (c >= '0' && c <= '9') {
      // The engine reads numbers anywhere, also as in \123, into a signed integer.
      if (++digits > 9) return most_repetitions + 1;
      number = 10 * number + static_cast<std::uint64_t>(c - '0');
      continue;
    }
    if (in_braces && digits > 0) product *= std::max<std::uint64_t>(number, 1);
    if (product > most_repetitions) return product;
    if (c == '{') in_braces = true;
    if (c == '}') in_braces = false;
    number = 0;
    digits = 0;
  }
  return product;
}

}  // namespace

Result<TextPattern> TextPattern::compile(std::string_view expression) {
  TextPattern pattern;
  if (expression.size() > longest_expression) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("regular expression has {} characters, expected at most {}",
                             expression.size(), longest_expression)};
  }
  pattern.words_ = plain_words(expression);
  if (!pattern.words_.empty()) return pattern;
  if (repetitions(expression) > most_repetitions) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("{} repeats too much, expected counts that multiply to at most {}",
                             in_quotes(expression), most_repetitions)};
  }
  try {
    pattern.regex_.emplace(expression.begin(), expression.end(), syntax);
  } catch (const std::regex_error& error) {
    return Error{ErrorCode::bad_usage, fmt::format("{} is not a regular expression ({})",
                                                   in_quotes(expression), error.what())};
  }
  return pattern;
}

bool TextPattern::found_in(std::string_view text) const {
  text = text.substr(0, longest_text);
  if (!regex_) {
    return std::any_of(words_.begin(), words_.end(), [text](const std::string& word) {
      return text.find(word) != std::string_view::npos;
    });
  }
  return std::regex_search(text.begin(), text.end(), *regex_);
}

}  // namespace foretrace::selecting
