// Regular expressions with bounded cost.
#include "sim/transform/text_pattern.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace::detail {

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

}  // namespace foretrace::detail
