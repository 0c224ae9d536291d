#include "sim/core/random.h"

#include <set>

#include <doctest/doctest.h>

using foretrace::mixed_bits;
using foretrace::unit_interval;

TEST_CASE("random: the first numbers are those of the published generator") {
  // splitmix64.c of Vigna, begun at 0: each call adds the step before it mixes.
  CHECK(mixed_bits(0) == 0xe220a8397b1dcdafU);
  CHECK(mixed_bits(0x9e3779b97f4a7c15U) == 0x6e789e6aa1b965f4U);
  CHECK(mixed_bits(2 * 0x9e3779b97f4a7c15U) == 0x06c45d188009454fU);
}

TEST_CASE("random: the unit interval is half open and fills evenly") {
  CHECK(unit_interval(0) == 0);
  CHECK(unit_interval(~0ULL) < 1);
  int low = 0;
  std::set<double> seen;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const double value = unit_interval(mixed_bits(i));
    low += value < 0.25 ? 1 : 0;
    seen.insert(value);
  }
  CHECK(seen.size() == 10000);
  CHECK(low > 2400);
  CHECK(low < 2600);
}
