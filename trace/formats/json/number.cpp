#include "trace/formats/json/number.h"

#include <charconv>
#include <limits>

#include "sim/core/text.h"

namespace foretrace::trace::formats {
namespace {

// value = mantissa * 10^exponent
struct Decimal {
  bool negative = false;
  std::uint64_t mantissa = 0;
  std::int64_t exponent = 0;
};

// "e+05": moves `at` behind it. The exponent is cut off far beyond any use.
std::optional<std::int64_t> exponent_of(std::string_view text, std::size_t& at) {
  constexpr std::int64_t beyond_use = 100000;
  bool negative = false;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
    negative = text[at] == '-';
    ++at;
  }
  if (at == text.size() || !is_digit(text[at])) return std::nullopt;
  std::int64_t value = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    value = value < beyond_use ? value * 10 + (text[at] - '0') : value;
  }
  return negative ? -value : value;
}

std::optional<Decimal> decimal_from(std::string_view text) {
  // One more digit always fits into 64 bits below this.
  constexpr std::uint64_t full = std::numeric_limits<std::uint64_t>::max() / 10 - 1;
  Decimal number;
  std::size_t at = 0;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) {
    number.negative = text[at] == '-';
    ++at;
  }
  bool digits = false;
  bool point = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (!is_digit(c)) break;
    digits = true;
    if (number.mantissa < full) {
      number.mantissa = number.mantissa * 10 + static_cast<std::uint64_t>(c - '0');
      number.exponent -= point ? 1 : 0;
    } else {
      number.exponent += point ? 0 : 1;
    }
  }
  if (!digits) return std::nullopt;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const auto exponent = exponent_of(text, ++at);
    if (!exponent) return std::nullopt;
    number.exponent += *exponent;
  }
  if (at != text.size()) return std::nullopt;
  return number;
}

// |number| * 10^shift rounded half up; empty if it does not fit into 63 bits.
std::optional<std::int64_t> scaled(const Decimal& number, std::int64_t shift) {
  constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
  std::uint64_t value = number.mantissa;
  std::int64_t exponent = number.exponent + shift;
  for (; exponent > 0 && value != 0; --exponent) {
    if (value > largest / 10) return std::nullopt;
    value *= 10;
  }
  for (; exponent < -1 && value != 0; ++exponent) {
    value /= 10;
  }
  if (exponent == -1) {
    value = value / 10 + (value % 10 >= 5 ? 1 : 0);
  }
  if (value > largest) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

}  // namespace

std::string_view without_quotes(std::string_view token) {
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') {
    return token.substr(1, token.size() - 2);
  }
  return token;
}

Nanoseconds nanoseconds_from_microseconds(std::string_view token) {
  constexpr std::int64_t highest = std::int64_t{1} << 62;
  constexpr std::int64_t lowest = -(std::int64_t{1} << 61);
  const auto number = decimal_from(without_quotes(token));
  if (!number) {
    return {0, NumberState::not_a_number};
  }
  const auto magnitude = scaled(*number, 3);
  if (!magnitude) {
    return {0, NumberState::out_of_range};
  }
  const std::int64_t value = number->negative ? -*magnitude : *magnitude;
  if (value >= highest || value <= lowest) {
    return {0, NumberState::out_of_range};
  }
  return {value, NumberState::ok};
}

std::optional<std::int64_t> integer_from(std::string_view token) {
  const std::string_view text = without_quotes(token);
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc{} && end == text.data() + text.size()) return value;
  const auto number = decimal_from(text);
  if (!number) return std::nullopt;
  // Whole numbers only: "3.0" and "1e3" count, "3.5" does not.
  Decimal rest = *number;
  for (; rest.exponent < 0 && rest.mantissa % 10 == 0 && rest.mantissa != 0; ++rest.exponent) {
    rest.mantissa /= 10;
  }
  if (rest.exponent < 0 && rest.mantissa != 0) return std::nullopt;
  const auto magnitude = scaled(rest, 0);
  if (!magnitude) return std::nullopt;
  return rest.negative ? -*magnitude : *magnitude;
}

}  // namespace foretrace::trace::formats
