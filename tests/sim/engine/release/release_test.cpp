#include "sim/engine/release/release.h"

#include <cmath>
#include <random>

#include <doctest/doctest.h>

namespace foretrace::engine {
namespace {

TEST_CASE("release: a share is rounded half away from zero, as std::llround does") {
  CHECK(share_of(0.5F, 101) == 51);
  CHECK(share_of(0.5F, -101) == -51);
  CHECK(share_of(0.5F, 100) == 50);
  CHECK(share_of(0.25F, 101) == 25);
  CHECK(share_of(0.0F, 101) == 0);
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    // Eighths of numbers of every length: many halves, and beyond 2^52 no fraction at all.
    const float fraction = static_cast<float>(1 + random() % 16) / 8.0F;
    const auto duration =
        static_cast<std::int64_t>(random() >> (2 + random() % 60)) * (random() % 2 == 0 ? 1 : -1);
    const double share = static_cast<double>(fraction) * static_cast<double>(duration);
    if (std::abs(share) < 4e18) {
      CAPTURE(fraction);
      CAPTURE(duration);
      REQUIRE(share_of(fraction, duration) == std::llround(share));
    }
  }
}

TEST_CASE("release: a share beyond all times counts as none") {
  CHECK(share_of(2.0F, std::int64_t{1} << 62) == 0);
  CHECK(share_of(-2.0F, std::int64_t{1} << 62) == 0);
}

}  // namespace
}  // namespace foretrace::engine
