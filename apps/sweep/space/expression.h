// Expressions over axes and results: "tensor * pipeline <= 512 && memory_bytes < 80 GiB".
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/result.h"

namespace foretrace::sweeping {

/// A number, a text, or both: "900 GB/s" is compared with numbers in bytes per second. A number
/// that is not known is not a number; comparisons with it are false.
struct Operand {
  double number = std::numeric_limits<double>::quiet_NaN();
  std::string_view text{};
  bool is_text = false;
};

/// What an axis value or a result is in expressions; `text` must outlive it.
[[nodiscard]] Operand operand_of(std::string_view text);
[[nodiscard]] inline Operand operand_of(double number) { return {number}; }

/// What an expression gives. A division by zero, or the logarithm of what is not above it, is a
/// number that is not known, and said.
struct Evaluated {
  Operand value;
  bool is_undefined = false;

  [[nodiscard]] bool holds() const;
};

/// Operators || && ! == != < <= > >= + - * / % and parentheses; min, max, abs, floor, log2; numbers
/// with units (80 GiB), texts in '...', true, false, none; names of axes and results. What || and
/// && need not look at is not computed.
class Expression {
 public:
  /// `names` are numbered; errors name the nearest one.
  [[nodiscard]] static Result<Expression> parse(std::string_view text,
                                                std::span<const std::string> names);
  /// `values` by the numbers of the names.
  [[nodiscard]] Evaluated evaluate(std::span<const Operand> values) const;
  /// The numbers of the names in it, each once.
  [[nodiscard]] const std::vector<std::size_t>& uses() const { return uses_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  friend class ExpressionParser;
  enum class Kind : std::uint8_t {
    number,
    text,
    name,
    either,
    both,
    negated,
    equal,
    unequal,
    less,
    at_most,
    plus,
    minus,
    times,
    over,
    remainder,
    minimum,
    maximum,
    absolute,
    floored,
    logarithm
  };
  /// Operands are nodes before this one.
  struct Node {
    Kind kind = Kind::number;
    std::size_t left = 0;
    std::size_t right = 0;
    double number = 0;
    std::string text{};
  };
  class Run;

  std::string text_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> uses_;
};

}  // namespace foretrace::sweeping
