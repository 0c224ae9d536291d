#include "sim/core/mersenne.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

namespace foretrace::scheduling {
namespace {

constexpr std::size_t state_size = 624;

// Initialization of the generator by an array (Matsumoto and Nishimura 2002), here of one or two
// words: std::mt19937 can only be seeded with one word or in ways of its own.
std::array<std::uint32_t, state_size> state_from(std::uint64_t seed) {
  std::array<std::uint32_t, 2> key = {static_cast<std::uint32_t>(seed),
                                      static_cast<std::uint32_t>(seed >> 32U)};
  const std::size_t words = key[1] != 0 ? 2 : 1;
  std::array<std::uint32_t, state_size> mt{};
  mt[0] = 19650218U;
  for (std::uint32_t i = 1; i < state_size; ++i) {
    mt[i] = 1812433253U * (mt[i - 1] ^ (mt[i - 1] >> 30U)) + i;
  }
  std::uint32_t i = 1;
  std::uint32_t j = 0;
  const auto wrap = [&] {
    if (i < state_size) return;
    mt[0] = mt[state_size - 1];
    i = 1;
  };
  for (std::size_t k = 0; k < state_size; ++k) {
    mt[i] = (mt[i] ^ ((mt[i - 1] ^ (mt[i - 1] >> 30U)) * 1664525U)) + key[j] + j;
    ++i;
    wrap();
    j = (j + 1) % static_cast<std::uint32_t>(words);
  }
  for (std::size_t k = 0; k + 1 < state_size; ++k) {
    mt[i] = (mt[i] ^ ((mt[i - 1] ^ (mt[i - 1] >> 30U)) * 1566083941U)) - i;
    ++i;
    wrap();
  }
  mt[0] = 0x80000000U;
  return mt;
}

// A seed sequence that hands over a state as it is.
struct Filled {
  using result_type = std::uint32_t;
  std::array<std::uint32_t, state_size> words;
  template <typename Iterator>
  void generate(Iterator first, Iterator last) const {
    std::copy_n(words.begin(), std::min<std::ptrdiff_t>(last - first, state_size), first);
  }
};

}  // namespace

Random::Random(std::uint64_t seed) {
  Filled words{state_from(seed)};
  engine_.seed(words);
}

double Random::uniform() {
  const auto high = static_cast<double>(engine_() >> 5U);
  const auto low = static_cast<double>(engine_() >> 6U);
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

std::size_t Random::below(std::size_t count) {
  if (count == 0) return 0;
  const auto bits = static_cast<unsigned>(std::bit_width(count));
  std::size_t drawn = count;
  while (drawn >= count) drawn = static_cast<std::size_t>(engine_()) >> (32U - bits);
  return drawn;
}

double Random::exponential(double mean) { return -std::log(1.0 - uniform()) * mean; }

double Random::normal() {
  const double width = 4 * std::exp(-0.5) / std::sqrt(2.0);
  while (true) {
    const double across = uniform();
    const double height = 1.0 - uniform();
    const double value = width * (across - 0.5) / height;
    if (value * value / 4 <= -std::log(height)) return value;
  }
}

}  // namespace foretrace::scheduling
