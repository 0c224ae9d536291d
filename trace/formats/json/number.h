// Numbers of a trace from their raw text: times as integer ns (a double would lose them), integers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/formats/json/scan_number.h"

namespace foretrace::trace::formats {

enum class NumberState : std::uint8_t { ok, not_a_number, out_of_range };

struct Nanoseconds {
  std::int64_t value = 0;
  NumberState state = NumberState::ok;
};

/// "1623143089861.123" (microseconds, also with an exponent or in quotes) as ns, rounded to the
/// nearest. Out of range is 2^61 ns (73 years) and more away from 0 below it, 2^62 above it, so
/// that differences and ends of events fit into 64 bits.
[[nodiscard]] Nanoseconds nanoseconds_from_microseconds(std::string_view token);

/// "42", "-1", "\"4093687616\"", also "3.0"; empty if it is no integer of 64 bits.
[[nodiscard]] std::optional<std::int64_t> integer_from(std::string_view token);

[[nodiscard]] inline Nanoseconds nanoseconds_from_microseconds(const Number& number) {
  constexpr std::int64_t highest = std::int64_t{1} << 51;  // times 1000 is below 2^61
  if (number.plain && number.whole < highest && number.whole > -highest) {
    return {number.whole * 1000 + number.thousandths, NumberState::ok};
  }
  return nanoseconds_from_microseconds(number.token());
}
[[nodiscard]] inline std::optional<std::int64_t> integer_from(const Number& number) {
  if (number.plain && number.thousandths == 0) {
    return number.whole;
  }
  return integer_from(number.token());
}

/// The text between the quotes of a string token, or the token itself.
[[nodiscard]] std::string_view without_quotes(std::string_view token);

}  // namespace foretrace::trace::formats
