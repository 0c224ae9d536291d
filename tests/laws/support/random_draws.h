// Draws from lists and ranges that are the same on every machine.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/random.h"

namespace foretrace::test {

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(mixed_bits(seed)) {}

  /// In [0, 1).
  [[nodiscard]] double unit() { return unit_interval(bits()); }
  [[nodiscard]] bool chance(double share) { return unit() < share; }
  /// From `low` to `high`, both included.
  [[nodiscard]] std::uint32_t within(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(bits() % (std::uint64_t{high} - low + 1));
  }
  template <typename Value>
  [[nodiscard]] Value one_of(const std::vector<Value>& values) {
    return values[bits() % values.size()];
  }
  /// A power of two from 2^-`octaves` to 2^`octaves`.
  [[nodiscard]] double factor(std::uint32_t octaves) {
    return std::ldexp(1.0, static_cast<int>(within(0, 2 * octaves)) - static_cast<int>(octaves));
  }

 private:
  std::uint64_t bits() { return mixed_bits(++state_); }

  std::uint64_t state_;
};

}  // namespace foretrace::test
