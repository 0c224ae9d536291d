// Random numbers that are the same on every machine: the Mersenne Twister, seeded and read as
// CPython's random module does it, so that traces drawn by published schedulers can be drawn again.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace foretrace::scheduling {

class Random {
 public:
  explicit Random(std::uint64_t seed);

  /// In [0, 1), 53 bits.
  [[nodiscard]] double uniform();
  [[nodiscard]] double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// In [0, count).
  [[nodiscard]] std::size_t below(std::size_t count);
  /// Exponentially distributed with this mean.
  [[nodiscard]] double exponential(double mean);
  /// Normally distributed, mean 0, deviation 1 (Kinderman and Monahan, 1977: random.normalvariate).
  [[nodiscard]] double normal();
  template <typename T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  std::mt19937 engine_;
};

}  // namespace foretrace::scheduling
