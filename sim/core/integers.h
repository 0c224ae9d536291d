// Integers of other widths.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace foretrace {

/// The value, or the nearest one from `least` to 2^31 - 1: recordings hold 64 bits where we
/// keep 32.
[[nodiscard]] constexpr std::int32_t clamped_int32(std::int64_t value, std::int32_t least = 0) {
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(value, least, std::numeric_limits<std::int32_t>::max()));
}

}  // namespace foretrace
