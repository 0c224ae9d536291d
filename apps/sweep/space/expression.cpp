// Reads expressions.
#include "apps/sweep/space/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace::sweeping {
namespace {

constexpr std::size_t deepest = 64;
constexpr std::size_t longest = 4096;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

double quantity(std::string_view text) {
  for (const ParamType type : {ParamType::number, ParamType::time, ParamType::bytes,
                               ParamType::bandwidth, ParamType::flops}) {
    if (const auto number = parse_quantity(text, type); number.ok()) return *number;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Operand operand_of(std::string_view text) { return {quantity(text), text, true}; }

/// Recursive descent; what binds least comes first.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, std::span<const std::string> names)
      : text_(text), names_(names) {}

  Result<Expression> run() {
    result_.text_ = std::string(text_);
    if (text_.size() > longest) {
      return Error{ErrorCode::bad_config, fmt::format("over {} characters long", longest)};
    }
    either();
    skip();
    if (at_ < text_.size()) fail("an operator or the end");
    if (!mistake_.empty()) return Error{ErrorCode::bad_config, mistake_};
    return std::move(result_);
  }

 private:
  using Kind = Expression::Kind;

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  std::size_t fail(std::string_view expected) {
    if (mistake_.empty()) {
      skip();
      const std::string_view rest = text_.substr(at_);
      mistake_ = fmt::format("in {} at character {}: got {}, expected {}", in_quotes(text_),
                             at_ + 1, rest.empty() ? "the end" : in_quotes(rest), expected);
    }
    at_ = text_.size();
    return add({});
  }
  std::size_t add(Expression::Node node) {
    result_.nodes_.push_back(std::move(node));
    return result_.nodes_.size() - 1;
  }
  std::size_t add(Kind kind, std::size_t left, std::size_t right = 0) {
    return add({kind, left, right});
  }

  std::size_t either() {
    if (++depth_ > deepest) return fail("at most 64 levels of parentheses");
    std::size_t left = both();
    while (take("||")) left = add(Kind::either, left, both());
    --depth_;
    return left;
  }
  std::size_t both() {
    std::size_t left = comparison();
    while (take("&&")) left = add(Kind::both, left, comparison());
    return left;
  }
  std::size_t comparison() {
    const std::size_t left = sum();
    if (take("==")) return add(Kind::equal, left, sum());
    if (take("!=")) return add(Kind::unequal, left, sum());
    if (take("<=")) return add(Kind::at_most, left, sum());
    if (take("<")) return add(Kind::less, left, sum());
    if (take(">=")) {
      const std::size_t right = sum();
      // NOLINTNEXTLINE(readability-suspicious-call-argument): a >= b is b <= a
      return add(Kind::at_most, right, left);
    }
    if (take(">")) {
      const std::size_t right = sum();
      // NOLINTNEXTLINE(readability-suspicious-call-argument): a > b is b < a
      return add(Kind::less, right, left);
    }
    return left;
  }
  std::size_t sum() {
    std::size_t left = product();
    while (true) {
      if (take("+")) {
        left = add(Kind::plus, left, product());
      } else if (take("-")) {
        left = add(Kind::minus, left, product());
      } else {
        return left;
      }
    }
  }
  std::size_t product() {
    std::size_t left = prefix();
    while (true) {
      if (take("*")) {
        left = add(Kind::times, left, prefix());
      } else if (take("/")) {
        left = add(Kind::over, left, divisor());
      } else if (take("%")) {
        left = add(Kind::remainder, left, divisor());
      } else {
        return left;
      }
    }
  }
  std::size_t divisor() {
    skip();
    const std::size_t before = at_;
    const std::size_t value = prefix();
    const Expression::Node& node = result_.nodes_[value];
    if (node.kind != Kind::number || node.number != 0 || !mistake_.empty()) return value;
    at_ = before;
    return fail("a divisor other than 0");
  }
  std::size_t prefix() {
    std::vector<Kind> signs;
    while (signs.size() < deepest) {
      skip();
      if (take("-")) {
        signs.push_back(Kind::minus);
      } else if (!text_.substr(at_).starts_with("!=") && take("!")) {
        signs.push_back(Kind::negated);
      } else {
        break;
      }
    }
    std::size_t value = single();
    for (std::size_t i = signs.size(); i-- > 0;) {
      value = signs[i] == Kind::negated ? add(Kind::negated, value)
                                        : add(Kind::minus, add(Expression::Node{}), value);
    }
    return value;
  }
  std::size_t single() {
    skip();
    if (at_ == text_.size()) return fail("a value");
    const char c = text_[at_];
    if (take("(")) {
      const std::size_t inner = either();
      return take(")") ? inner : fail("')'");
    }
    if (c == '\'') return quoted();
    if (is_digit(c) || c == '.') return number();
    if (is_letter(c)) return name();
    return fail("a number, a name, a text in '...' or '('");
  }
  std::size_t quoted() {
    const std::size_t end = text_.find('\'', at_ + 1);
    if (end == std::string_view::npos) return fail("a closing '");
    Expression::Node node{.kind = Kind::text};
    node.text = std::string(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return add(std::move(node));
  }
  std::size_t number() {
    double value = 0;
    const std::string_view rest = text_.substr(at_);
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc()) return fail("a number");
    auto length = static_cast<std::size_t>(end - rest.data());
    const std::size_t gap = length < rest.size() && rest[length] == ' ' ? 1 : 0;
    std::size_t unit = length + gap;
    while (unit < rest.size() &&
           (is_letter(rest[unit]) ||
            (rest[unit] == '/' && unit + 1 < rest.size() && rest[unit + 1] == 's'))) {
      ++unit;
    }
    if (unit > length + gap) {
      value = quantity(rest.substr(0, unit));
      if (std::isnan(value)) return fail("a number with a unit such as 80 GiB or 5 ms");
      length = unit;
    }
    at_ += length;
    Expression::Node node{.kind = Kind::number};
    node.number = value;
    return add(std::move(node));
  }
  std::size_t name() {
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    if (word == "none" || word == "true" || word == "false") {
      at_ = end;
      Expression::Node node{.kind = Kind::text};
      node.text = std::string(word);
      return add(std::move(node));
    }
    const std::string_view after = text_.substr(std::min(end, text_.size()));
    if (after.starts_with("(")) return call(word, end + 1);
    const auto found = std::find(names_.begin(), names_.end(), word);
    if (found == names_.end()) {
      const std::vector<std::string_view> valid(names_.begin(), names_.end());
      return fail(fmt::format("the name of an axis or a result{}", did_you_mean(word, valid)));
    }
    at_ = end;
    const auto number = static_cast<std::size_t>(found - names_.begin());
    auto& uses = result_.uses_;
    if (std::find(uses.begin(), uses.end(), number) == uses.end()) uses.push_back(number);
    return add(Kind::name, number);
  }
  std::size_t call(std::string_view word, std::size_t behind) {
    struct Function {
      std::string_view name;
      Kind kind;
      bool takes_two;
    };
    constexpr std::array functions = {
        Function{"min", Kind::minimum, true}, Function{"max", Kind::maximum, true},
        Function{"abs", Kind::absolute, false}, Function{"floor", Kind::floored, false},
        Function{"log2", Kind::logarithm, false}};
    const auto* const found = std::find_if(functions.begin(), functions.end(),
                                           [&](const Function& one) { return one.name == word; });
    if (found == functions.end()) return fail("min, max, abs, floor or log2");
    at_ = behind;
    const std::size_t left = either();
    if (found->takes_two && !take(",")) return fail("','");
    const std::size_t right = found->takes_two ? either() : 0;
    return take(")") ? add(found->kind, left, right) : fail("')'");
  }

  std::string_view text_;
  std::span<const std::string> names_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::string mistake_;
  Expression result_;
};

Result<Expression> Expression::parse(std::string_view text, std::span<const std::string> names) {
  return ExpressionParser(text, names).run();
}

}  // namespace foretrace::sweeping
