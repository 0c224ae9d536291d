// Numbers that look random and are the same on every machine.
#pragma once

#include <cstdint>

namespace foretrace {

/// Every bit of the result depends on every bit of `state`. Source: Vigna, splitmix64, after
/// Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
[[nodiscard]] constexpr std::uint64_t mixed_bits(std::uint64_t state) {
  state += 0x9e3779b97f4a7c15U;
  state = (state ^ (state >> 30U)) * 0xbf58476d1ce4e5b9U;
  state = (state ^ (state >> 27U)) * 0x94d049bb133111ebU;
  return state ^ (state >> 31U);
}

/// In [0, 1), from the upper 53 bits.
[[nodiscard]] constexpr double unit_interval(std::uint64_t bits) {
  return static_cast<double>(bits >> 11U) * 0x1p-53;
}

}  // namespace foretrace
