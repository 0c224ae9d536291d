#include "apps/report/svg/strip.h"

#include <random>

#include <doctest/doctest.h>

using namespace foretrace::svg;

TEST_CASE("strip: a pixel shows what takes most of its time, as strong as all of it") {
  Strip strip(0, 100, 10);
  strip.add(0, 6, Fill::forward);  // pixel 0: 6 of 10 forward, 2 of 10 backward
  strip.add(6, 8, Fill::backward);
  strip.add(20, 40, Fill::backward);  // pixels 2 and 3, full
  const auto runs = strip.runs();
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].first == 0);
  CHECK(runs[0].fill == Fill::forward);
  CHECK(runs[0].strength == 4);  // 8 of 10, rounded up to quarters
  CHECK(runs[1].first == 2);
  CHECK(runs[1].count == 2);
  CHECK(runs[1].fill == Fill::backward);
}

TEST_CASE("strip: many short slices are all counted, at every zoom") {
  std::mt19937_64 random(7);
  for (const std::size_t pixels : {1U, 7U, 64U, 1000U}) {
    Strip strip(1000, 2000, pixels);
    double expected = 0;
    std::int64_t at = 900;
    while (at < 2100) {
      const auto begin = at + static_cast<std::int64_t>(random() % 3);
      const auto end = begin + static_cast<std::int64_t>(random() % 4);
      strip.add(begin, end, static_cast<Fill>(random() % fill_count));
      expected += static_cast<double>(std::max<std::int64_t>(
          0, std::min<std::int64_t>(end, 2000) - std::max<std::int64_t>(begin, 1000)));
      at = end + 1;
    }
    CHECK(strip.covered_ns() == doctest::Approx(expected).epsilon(0.001));
  }
}

TEST_CASE("strip: an empty window draws nothing") {
  Strip strip(5, 5, 10);
  strip.add(0, 10, Fill::host);
  CHECK(strip.runs().empty());
}
