#include "tests/validation/maps/expression.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace::validation {
namespace {

/// Maps are written by hand: deeper nesting is a mistake.
constexpr int most_nested = 32;

class Calculation {
 public:
  Calculation(std::string_view text, const Variables& variables)
      : text_(text), rest_(text), variables_(variables) {}

  Result<double> run() {
    const double value = comparison();
    skip_spaces();
    if (!rest_.empty()) mistake("something behind its end");
    if (!std::isfinite(value)) mistake("a result that is not finite");
    if (!mistake_.empty()) return Error{ErrorCode::bad_config, mistake_};
    return value;
  }

 private:
  void mistake(std::string_view what) {
    if (mistake_.empty()) mistake_ = fmt::format("{}: got {}", in_quotes(text_), what);
  }
  void skip_spaces() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  bool take(std::string_view symbol) {
    skip_spaces();
    if (!rest_.starts_with(symbol)) return false;
    rest_.remove_prefix(symbol.size());
    return true;
  }

  double comparison() {
    const double left = sum();
    // Longer ones first.
    if (take("<=")) return left <= sum() ? 1 : 0;
    if (take(">=")) return left >= sum() ? 1 : 0;
    if (take("==")) return left == sum() ? 1 : 0;
    if (take("<")) return left < sum() ? 1 : 0;
    if (take(">")) return left > sum() ? 1 : 0;
    return left;
  }
  double sum() {
    double value = product();
    for (;;) {
      if (take("+")) {
        value += product();
      } else if (take("-")) {
        value -= product();
      } else {
        return value;
      }
    }
  }
  double product() {
    double value = term();
    for (;;) {
      if (take("*")) {
        value *= term();
      } else if (take("/")) {
        value /= term();
      } else {
        return value;
      }
    }
  }
  /// What stands in parentheses.
  double inner() {
    if (++nested_ > most_nested) rest_ = {};
    const double value = comparison();
    --nested_;
    return value;
  }
  double term() {
    skip_spaces();
    if (take("(")) {
      const double value = inner();
      if (!take(")")) mistake("no ')'");
      return value;
    }
    double number = 0;
    const auto read = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (read.ec == std::errc() && std::isdigit(static_cast<unsigned char>(rest_.front())) != 0) {
      rest_.remove_prefix(static_cast<std::size_t>(read.ptr - rest_.data()));
      return number;
    }
    return named();
  }
  double named() {
    const auto is_name = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    const auto* const end = std::find_if_not(rest_.begin(), rest_.end(), is_name);
    const std::string_view name = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(name.size());
    if (take("(")) return call(name);
    const auto found = variables_.find(name);
    if (found != variables_.end()) return found->second;
    mistake(name.empty() ? "nothing where a number is expected"
                         : fmt::format("the name {}, which is no number of the row", name));
    rest_ = {};
    return 0;
  }
  double call(std::string_view name) {
    std::vector<double> values;
    do {
      values.push_back(inner());
    } while (take(","));
    if (!take(")")) mistake("no ')'");
    if (values.size() == 1 && name == "ceil") return std::ceil(values[0]);
    if (values.size() == 1 && name == "floor") return std::floor(values[0]);
    if (values.size() == 2 && name == "min") return std::min(values[0], values[1]);
    if (values.size() == 2 && name == "max") return std::max(values[0], values[1]);
    if (values.size() == 3 && name == "if") return values[0] != 0 ? values[1] : values[2];
    mistake(fmt::format("{} with {} values", name, values.size()));
    return 0;
  }

  std::string_view text_;
  std::string_view rest_;
  const Variables& variables_;
  std::string mistake_;
  int nested_ = 0;
};

}  // namespace

Result<double> calculate(std::string_view expression, const Variables& variables) {
  return Calculation(expression, variables).run();
}

}  // namespace foretrace::validation
