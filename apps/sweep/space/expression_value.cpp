// What expressions give.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/sweep/space/expression.h"

namespace foretrace::sweeping {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

bool is_true(const Operand& value) {
  return value.is_text ? value.text == "true" : !std::isnan(value.number) && value.number != 0;
}

}  // namespace

/// One evaluation.
class Expression::Run {
 public:
  Run(const Expression& expression, std::span<const Operand> values)
      : nodes_(expression.nodes_), values_(values) {}

  [[nodiscard]] Evaluated answer() {
    const Operand value = value_of(nodes_.size() - 1);
    return {value, is_undefined_};
  }

 private:
  static Operand truth(bool value) { return operand_of(value ? 1.0 : 0.0); }

  Operand value_of(std::size_t at) {
    const Node& node = nodes_[at];
    switch (node.kind) {
      case Kind::number: return operand_of(node.number);
      case Kind::text: return operand_of(std::string_view(node.text));
      case Kind::name: return values_[node.left];
      case Kind::either:
        return truth(is_true(value_of(node.left)) || is_true(value_of(node.right)));
      case Kind::both: return truth(is_true(value_of(node.left)) && is_true(value_of(node.right)));
      case Kind::negated: return truth(!is_true(value_of(node.left)));
      case Kind::equal:
      case Kind::unequal:
      case Kind::less:
      case Kind::at_most: return compared(node);
      default: return operand_of(computed(node));
    }
  }

  Operand compared(const Node& node) {
    const Operand a = value_of(node.left);
    const Operand b = value_of(node.right);
    const bool as_texts = a.is_text && b.is_text && (std::isnan(a.number) || std::isnan(b.number));
    if (node.kind == Kind::less) return truth(as_texts ? a.text < b.text : a.number < b.number);
    if (node.kind == Kind::at_most) {
      return truth(as_texts ? a.text <= b.text : a.number <= b.number);
    }
    // A word never equals a number; true and false are those of results, which are 1 and 0.
    bool equal = as_texts ? a.text == b.text : a.number == b.number;
    for (const auto& [word, other] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
      if (word->is_text && !other->is_text && (word->text == "true" || word->text == "false")) {
        equal = (other->number != 0) == (word->text == "true");
      }
    }
    return truth(equal == (node.kind == Kind::equal));
  }

  double computed(const Node& node) {
    const double a = value_of(node.left).number;
    switch (node.kind) {
      case Kind::absolute: return std::abs(a);
      case Kind::floored: return std::floor(a);
      case Kind::logarithm: return a <= 0 ? undefined() : std::log2(a);
      default: break;
    }
    const double b = value_of(node.right).number;
    switch (node.kind) {
      case Kind::plus: return a + b;
      case Kind::minus: return a - b;
      case Kind::times: return a * b;
      case Kind::over: return b == 0 ? undefined() : a / b;
      case Kind::remainder: return b == 0 ? undefined() : std::fmod(a, b);
      // What is not known has no smaller and no larger one.
      case Kind::minimum: return std::isnan(a) || std::isnan(b) ? no_number : std::min(a, b);
      case Kind::maximum: return std::isnan(a) || std::isnan(b) ? no_number : std::max(a, b);
      default: return no_number;
    }
  }

  double undefined() {
    is_undefined_ = true;
    return no_number;
  }

  const std::vector<Node>& nodes_;
  std::span<const Operand> values_;
  bool is_undefined_ = false;
};

bool Evaluated::holds() const { return is_true(value); }

Evaluated Expression::evaluate(std::span<const Operand> values) const {
  return Run(*this, values).answer();
}

}  // namespace foretrace::sweeping
