#include "apps/sweep/space/expression.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace foretrace::sweeping {
namespace {

const std::vector<std::string> names = {"micro", "link", "kind", "step_ns"};

Operand value(const std::string& text) {
  const auto expression = Expression::parse(text, names);
  REQUIRE_MESSAGE(expression.ok(), text);
  static const std::vector<Operand> operands = {
      operand_of(std::string_view("4")), operand_of(std::string_view("300 GB/s")),
      operand_of(std::string_view("1f1b")), operand_of(5e6)};
  return expression->evaluate(operands).value;
}

std::string mistake(const std::string& text) {
  const auto expression = Expression::parse(text, names);
  REQUIRE_FALSE(expression.ok());
  return expression.error().message;
}

}  // namespace

TEST_CASE("sweep expression: operators bind as in C") {
  CHECK(value("1 + 2 * 3 - -4").number == 11);
  CHECK(value("(1 + 2) * 3 % 5").number == 4);
  CHECK(value("1 < 2 && 2 <= 2 || 0").number == 1);
  CHECK(value("!(1 > 2) && 3 >= 3").number == 1);
  CHECK(value("min(3, max(1, 2)) + abs(-2) + floor(2.9) + log2(8)").number == 9);
}

TEST_CASE("sweep expression: names stand for values, units for factors") {
  CHECK(value("micro * 2").number == 8);
  CHECK(value("link == 300 GB/s").number == 1);
  CHECK(value("link > 0.2 TB/s").number == 1);
  CHECK(value("step_ns < 6 ms").number == 1);
  CHECK(value("step_ns / 1 ms").number == 5);
  CHECK(value("80 GiB").number == 80.0 * (1U << 30U));
}

TEST_CASE("sweep expression: words are compared as words, none of them equals a number") {
  CHECK(value("kind == '1f1b'").number == 1);
  CHECK(value("kind != 'gpipe'").number == 1);
  CHECK(value("kind == none").number == 0);
  CHECK(value("kind == 3").number == 0);
  const auto truth = Expression::parse("true", names);
  REQUIRE(truth.ok());
  CHECK(truth->evaluate({}).value.text == "true");  // a view into the expression
}

TEST_CASE("sweep expression: comparisons with what is not known are false") {
  const auto expression = Expression::parse("step_ns < 1 || step_ns >= 1 || step_ns == 1", names);
  REQUIRE(expression.ok());
  const std::vector<Operand> operands(4);
  CHECK_FALSE(expression->evaluate(operands).holds());
  CHECK_FALSE(expression->evaluate(operands).is_undefined);
}

TEST_CASE("sweep expression: a division by zero is said, and is no number") {
  const auto of = [](const std::string& text, double micro) {
    const auto expression = Expression::parse(text, names);
    REQUIRE_MESSAGE(expression.ok(), text);
    std::vector<Operand> operands(4);
    operands[0] = operand_of(micro);
    return expression->evaluate(operands);
  };
  for (const char* const text : {"1 / micro > 0", "-1 / micro < 0", "7 % micro == 0",
                                 "log2(micro) < 1", "!(0 / micro > 1) && micro == 1"}) {
    CAPTURE(text);
    CHECK(of(text, 0).is_undefined);
    CHECK_FALSE(of(text, 0).holds());
    CHECK_FALSE(of(text, 2).is_undefined);
  }
  CHECK(std::isnan(of("3 / micro", 0).value.number));
  CHECK(std::isnan(of("min(1, 3 / micro)", 0).value.number));
  // What need not be looked at is not computed.
  CHECK_FALSE(of("micro != 0 && 1 / micro > 0", 0).is_undefined);
  CHECK_FALSE(of("micro == 0 || 1 / micro > 0", 0).is_undefined);
}

TEST_CASE("sweep expression: what always divides by zero is a mistake") {
  CHECK(mistake("micro / 0 > 1").find("expected a divisor other than 0") != std::string::npos);
  CHECK(mistake("micro % 0.0").find("expected a divisor other than 0") != std::string::npos);
  CHECK(value("0 / micro").number == 0);
}

TEST_CASE("sweep expression: mistakes name the place and the nearest name") {
  CHECK(
      mistake("stp_ns < 3") ==
      "in 'stp_ns < 3' at character 1: got 'stp_ns < 3', expected the name of an axis or a result "
      "(did you mean 'step_ns'?)");
  CHECK(mistake("1 +") == "in '1 +' at character 4: got the end, expected a value");
  CHECK(mistake("(1").find("expected ')'") != std::string::npos);
  CHECK(mistake("1 2").find("expected an operator or the end") != std::string::npos);
  CHECK(mistake("5 parsecs").find("a number with a unit") != std::string::npos);
  CHECK(mistake("kind == 'x").find("a closing '") != std::string::npos);
  CHECK(mistake("pow(1, 2)").find("min, max, abs, floor or log2") != std::string::npos);
  CHECK(mistake(std::string(5000, '1')).find("over 4096") != std::string::npos);
  CHECK(mistake(std::string(200, '(') + "1").find("levels") != std::string::npos);
}

TEST_CASE("sweep expression: knows which names it uses, each once") {
  const auto expression = Expression::parse("step_ns + micro + step_ns", names);
  REQUIRE(expression.ok());
  CHECK(expression->uses() == std::vector<std::size_t>{3, 0});
}

}  // namespace foretrace::sweeping
