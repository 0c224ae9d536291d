// Regular expressions with bounded cost.
#include "sim/edit/text_pattern.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>

#include "sim/core/params.h"
#include "sim/core/utf8.h"

namespace foretrace::selecting {

namespace {

// A longer expression is no selection by hand.
constexpr std::size_t longest_expression = 1000;
/// Repetitions such as {2,5} are written out by the engine: what nested ones multiply to.
constexpr std::uint32_t most_repetitions = 1000;

Error no_expression(std::string_view expression, std::string_view why) {
  return Error{ErrorCode::bad_usage, fmt::format("{} is not a regular expression ({})",
                                                 in_quotes(expression), on_one_line(why))};
}

Error too_much(std::string_view expression) {
  return Error{ErrorCode::bad_usage,
               fmt::format("{} repeats too often, expected counts that multiply to at most {}",
                           in_quotes(expression), most_repetitions)};
}

/// "what: place", without the place if it is all of the expression or rewritten.
std::string_view what_is_wrong(const RE2& regex, std::string_view expression) {
  const std::string_view what = regex.error();
  const std::string place = ": " + regex.error_arg();
  const bool is_known = place.size() - 2 < expression.size() &&
                        expression.find(regex.error_arg()) != std::string_view::npos;
  return is_known || !what.ends_with(place) ? what : what.substr(0, what.size() - place.size());
}

/// Writes an ECMAScript expression as RE2 reads it. What is wrong in both is left to RE2.
///
///   .        [^\n\r]         \s  [[:space:]]    [] and [^]   nothing, anything
///   a+*      (?:a+)*         \q  q              \0  \u0041   \x00 \x41
class Rewriter {
 public:
  explicit Rewriter(std::string_view expression) : whole_(expression), left_(expression) {}

  Result<std::string> run() && {
    while (!left_.empty() && !error_) element();
    if (error_) return *std::move(error_);
    return std::move(out_);
  }

 private:
  char take() {
    const char c = left_.front();
    left_.remove_prefix(1);
    return c;
  }
  [[nodiscard]] bool skip(std::string_view text) {
    if (!left_.starts_with(text)) return false;
    left_.remove_prefix(text.size());
    return true;
  }
  void copy(std::size_t count) {
    out_ += left_.substr(0, count);
    left_.remove_prefix(std::min(count, left_.size()));
  }

  void element() {
    const std::size_t begin = out_.size();
    const char c = take();
    if (c == '*' || c == '+' || c == '?') return repeat({&c, 1});
    if (c == '{') return repeat_counted();
    is_repeated_ = false;
    atom_ = begin;
    switch (c) {
      case '(': return open_group();
      case ')':
        if (!groups_.empty()) {
          atom_ = groups_.back();
          groups_.pop_back();
        }
        break;
      case '[': return bracket();
      case '\\': return escape(Where::outside);
      case '.': out_ += R"([^\n\r])"; return;
      default: break;
    }
    out_ += c;
  }

  /// RE2 takes a** for a mistake.
  void repeat(std::string_view how) {
    if (is_repeated_) out_.insert(atom_, "(?:") += ')';
    out_ += how;
    if (skip("?")) out_ += '?';
    is_repeated_ = true;
  }

  /// {2}, {2,} or {2,5}; RE2 would take others for the characters themselves.
  void repeat_counted() {
    const std::string_view counts = left_.substr(0, left_.find('}'));
    const char* at = counts.data();
    const char* const end = at + counts.size();
    const auto number = [&at, end](std::uint32_t& value) {
      const auto [behind, error] = std::from_chars(at, end, value);
      if (error == std::errc::result_out_of_range) value = most_repetitions + 1;
      return std::exchange(at, behind) != behind;
    };
    std::uint32_t least = 0;
    bool ok = number(least);
    std::uint32_t most = least;
    if (ok && at != end && *at == ',' && ++at != end) ok = number(most);
    if (!ok || at != end || most < least || counts.size() == left_.size()) {
      error_ = no_expression(whole_, fmt::format("got '{{{}', expected a count such as {{2}}, "
                                                 "{{2,}} or {{2,5}}",
                                                 left_.substr(0, counts.size() + 1)));
    } else if (most > most_repetitions) {
      error_ = too_much(whole_);
    } else {
      left_.remove_prefix(counts.size() + 1);
      repeat(fmt::format("{{{}}}", counts));
    }
  }

  void open_group() {
    groups_.push_back(out_.size());
    out_ += '(';
    if (!left_.starts_with('?')) return;
    if (skip("?:")) {
      out_ += "?:";
    } else if (left_.starts_with("?=") || left_.starts_with("?!")) {
      lacks("look-ahead", fmt::format("({}", left_.substr(0, 2)));
    } else if (left_.starts_with("?<=") || left_.starts_with("?<!")) {
      lacks("look-behind", fmt::format("({}", left_.substr(0, 3)));
    } else {
      error_ = no_expression(whole_,
                             fmt::format("got '({}', expected '(' or '(?:'", left_.substr(0, 2)));
    }
  }

  void bracket() {
    const bool is_negated = skip("^");
    if (skip("]")) {  // to RE2 the first of the characters
      out_ += is_negated ? R"([\x00-\xff])" : R"([^\x00-\xff])";
      return;
    }
    out_ += is_negated ? "[^" : "[";
    while (!left_.empty() && !error_) {
      if (skip("\\")) {
        escape(Where::in_brackets);
      } else if (left_.starts_with("[.") || left_.starts_with("[=")) {
        lacks("collating element", left_.substr(0, 2));
      } else if (left_.starts_with("[:")) {
        copy(left_.find(":]") == std::string_view::npos ? 1 : left_.find(":]") + 2);
      } else {
        out_ += take();
        if (out_.back() == ']') return;
      }
    }
  }

  enum class Where : std::uint8_t { outside, in_brackets };

  void escape(Where where) {
    if (left_.empty()) {
      out_ += '\\';
      return;
    }
    const bool outside = where == Where::outside;
    const char c = take();
    if (c == 's') {
      out_ += outside ? "[[:space:]]" : "[:space:]";
    } else if (c == 'S') {
      out_ += outside ? "[^[:space:]]" : "[:^space:]";
    } else if (c == 'b') {
      out_ += outside ? R"(\b)" : R"(\x08)";
    } else if (c == '0') {
      out_ += R"(\x00)";
    } else if (c >= '1' && c <= '9') {
      lacks("back reference", fmt::format("\\{}", c));
    } else if (c == 'x' || (c == 'u' && skip("00"))) {
      out_ += R"(\x)";
      copy(2);
    } else if (is_plain(c)) {
      out_ += c;
    } else {
      (out_ += '\\') += c;
    }
  }

  /// A letter that RE2 gives a meaning of its own behind \, or none.
  static bool is_plain(char c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 ||
           (is_letter && std::string_view("dDwWBcfnrtuv").find(c) == std::string_view::npos);
  }

  void lacks(std::string_view what, std::string_view text) {
    error_ = Error{ErrorCode::bad_usage,
                   fmt::format("{} has the {} '{}', expected an expression without look-around, "
                               "back references and collating elements",
                               in_quotes(whole_), what, on_one_line(text))};
  }

  std::string_view whole_;
  std::string_view left_;
  std::string out_;
  std::optional<Error> error_;
  std::vector<std::size_t> groups_;  ///< where those that are open begin in out_
  std::size_t atom_ = 0;             ///< where what a repetition repeats begins in out_
  bool is_repeated_ = false;         ///< and whether one does already
};

}  // namespace

Result<TextPattern> TextPattern::compile(std::string_view expression) {
  if (expression.size() > longest_expression) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("regular expression has {} characters, expected at most {}",
                             expression.size(), longest_expression)};
  }
  FORETRACE_TRY(const std::string rewritten, Rewriter(expression).run());
  RE2::Options options(RE2::Latin1);  // bytes, as names need not be UTF-8
  options.set_log_errors(false);
  options.set_never_capture(true);
  auto regex = std::make_shared<const RE2>(rewritten, options);
  if (regex->error_code() == RE2::ErrorRepeatSize) return too_much(expression);
  if (!regex->ok()) return no_expression(expression, what_is_wrong(*regex, expression));
  TextPattern pattern;
  pattern.regex_ = std::move(regex);
  return pattern;
}

bool TextPattern::found_in(std::string_view text) const {
  return regex_ && regex_->Match(text, 0, text.size(), RE2::UNANCHORED, nullptr, 0);
}

}  // namespace foretrace::selecting
