// The one way from real numbers to whole ones: times in ns, bytes and counts.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace foretrace {

/// Farthest from 0 that a whole number lies: 2^62 ns are 146 years, 2^62 bytes four times a
/// million terabytes. Two of them can still be added up.
inline constexpr std::int64_t most_whole = std::int64_t{1} << 62;

/// True if the number is finite and stands for itself as a whole one.
[[nodiscard]] inline bool fits_whole(double value) { return value > -0x1p62 && value < 0x1p62; }

/// The nearest whole number. Every input has a result: what lies beyond the farthest becomes that,
/// and what is no number at all becomes the largest, so that it never looks small.
[[nodiscard]] inline std::int64_t to_whole(double value) {
  if (fits_whole(value)) return std::llround(value);
  return value < 0 ? -most_whole : most_whole;
}

/// The nearest count of things: below 0 none, and no more than 32 bits hold.
[[nodiscard]] inline std::uint32_t to_count(double value) {
  constexpr auto most = std::numeric_limits<std::uint32_t>::max();
  if (!(value < most)) return most;
  return value > 0 ? static_cast<std::uint32_t>(std::llround(value)) : 0;
}

}  // namespace foretrace
