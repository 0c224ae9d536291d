#include "apps/report/svg/scale.h"

#include <doctest/doctest.h>

using namespace foretrace::svg;

TEST_CASE("time ticks: round steps of 1, 2 or 5 in one unit, from 0 to the end") {
  // 350 ms in at most 10 steps: 35 ms would do, the next round step is 50 ms.
  const auto ticks = time_ticks(350'000'000, 10);
  REQUIRE(ticks.size() == 8);
  CHECK(ticks[0].label == "0");
  CHECK(ticks[1].label == "50 ms");
  CHECK(ticks[7].label == "350 ms");
  CHECK(ticks[7].value == doctest::Approx(3.5e8));
}

TEST_CASE("time ticks: decimals as the step needs them") {
  const auto ticks = time_ticks(1'100'000'000, 10);
  REQUIRE(ticks.size() == 6);
  CHECK(ticks[1].label == "0.2 s");
  CHECK(time_ticks(0, 10).empty());
}

TEST_CASE("byte ticks: whole steps of a binary unit") {
  const auto ticks = byte_ticks(std::int64_t{28} << 27U, 5);  // 3.5 GiB
  REQUIRE(ticks.size() == 4);
  CHECK(ticks[3].label == "3 GiB");
  CHECK(ticks[3].value == 3.0 * 1073741824.0);
}

TEST_CASE("number ticks: between two ends, the round ones only") {
  const auto ticks = number_ticks(-0.3, 1.1, 4);
  REQUIRE(ticks.size() == 3);
  CHECK(ticks[0].label == "0.0");
  CHECK(ticks[2].label == "1.0");
  CHECK(number_ticks(1, 1, 4).empty());
}
