// Numbers straight from scanned text: the common spellings without a loop over digits.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace foretrace::trace::formats {

/// A number as written, and its value where it is plain: digits, a sign if whole, up to three
/// decimals. Everything else (exponents, quotes, garbage) is left to number.h.
struct Number {
  const char* start = nullptr;
  std::int64_t whole = 0;
  std::uint32_t size = 0;  ///< 0: absent
  std::uint16_t thousandths = 0;
  bool plain = false;
  std::uint8_t unused = 0;  // lets clear() be one store

  void clear() {
    size = 0;
    thousandths = 0;
    plain = false;
    unused = 0;
  }
  [[nodiscard]] bool present() const { return size != 0; }
  /// As written: with its quotes if it has any.
  [[nodiscard]] std::string_view token() const { return {start, size}; }
};

/// Up to 8 digits at a place where 8 bytes can be read.
struct Digits {
  std::uint64_t value = 0;
  unsigned count = 0;
};
inline Digits digits_at(const char* at) {
  static_assert(std::endian::native == std::endian::little, "first character = lowest byte");
  constexpr std::uint64_t zeros = 0x3030303030303030ULL;
  std::uint64_t word = 0;
  std::memcpy(&word, at, 8);
  const std::uint64_t values = word ^ zeros;  // a digit becomes 0-9
  const std::uint64_t others =
      (((values & 0x7F7F7F7F7F7F7F7FULL) + 0x7676767676767676ULL) | values) & 0x8080808080808080ULL;
  const auto count = static_cast<unsigned>(std::countr_zero(others)) / 8;  // 8 if all are digits
  if (count == 0) {
    return {};
  }
  // Leading zeros by shifting, then pairs, fours and eights of digits at once.
  std::uint64_t digits = values << (8 * (8 - count));
  digits = digits * 10 + (digits >> 8U);
  constexpr std::uint64_t pair_mask = 0x000000FF000000FFULL;
  digits = ((digits & pair_mask) * (100 + (1000000ULL << 32U)) +
            ((digits >> 16U) & pair_mask) * (1 + (10000ULL << 32U))) >>
           32U;
  return {digits & 0xFFFFFFFFULL, count};
}

/// By character: true for what may follow a number.
inline constexpr auto ends_number = [] {
  std::array<bool, 256> ends{};
  for (std::size_t c = 0; c <= ' '; ++c) {
    ends[c] = true;
  }
  ends[','] = ends['}'] = ends[']'] = true;
  return ends;
}();

/// Reads a plain number at `at`, where 32 bytes can be read; null if it is none.
inline const char* scan_long_number(const char* at, Number& out);
inline const char* scan_plain_number(const char* at, Number& out) {
  // Most are whole and short.
  const Digits digits = digits_at(at);
  const char* const behind = at + digits.count;
  if (digits.count == 0 || digits.count == 8 || !ends_number[static_cast<unsigned char>(*behind)]) {
    return scan_long_number(at, out);
  }
  out.start = at;
  out.whole = static_cast<std::int64_t>(digits.value);
  out.size = digits.count;
  out.thousandths = 0;
  out.plain = true;
  return behind;
}

inline const char* scan_long_number(const char* at, Number& out) {
  constexpr std::uint64_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
  const char* const start = at;
  const bool negative = *at == '-';
  at += negative ? 1 : 0;
  Digits part = digits_at(at);
  std::uint64_t whole = part.value;
  at += part.count;
  const bool any = part.count != 0;
  if (part.count == 8) {
    part = digits_at(at);
    at += part.count;
    if (part.count == 8) {
      whole = whole * 100000000 + part.value;
      part = digits_at(at);
      at += part.count;
      if (part.count > 2) {  // 18 digits fit into 63 bits
        return nullptr;
      }
    }
    whole = whole * power[part.count] + part.value;
  }
  std::uint64_t thousandths = 0;
  if (*at == '.') {
    const Digits decimals = digits_at(at + 1);
    if (negative || decimals.count == 0 || decimals.count > 3) {
      return nullptr;
    }
    thousandths = decimals.value * power[3 - decimals.count];
    at += 1 + decimals.count;
  }
  if (!any || !ends_number[static_cast<unsigned char>(*at)]) {
    return nullptr;
  }
  const auto value = static_cast<std::int64_t>(whole);
  out = Number{start,
               negative ? -value : value,
               static_cast<std::uint32_t>(at - start),
               static_cast<std::uint16_t>(thousandths),
               true,
               0};
  return at;
}

}  // namespace foretrace::trace::formats
