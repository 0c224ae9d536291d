#include "models/jobs/times/two_lanes.h"

#include <doctest/doctest.h>

using foretrace::TwoLanes;

TEST_CASE("two lanes: a collective that is shorter than the computation beside it costs nothing") {
  TwoLanes lanes;
  const auto number = lanes.start(30);
  lanes.compute(100);
  CHECK(lanes.wait(number) == doctest::Approx(0));
  CHECK(lanes.now() == doctest::Approx(100));
  CHECK(lanes.overlapped() == doctest::Approx(30));
}

TEST_CASE("two lanes: what computation does not cover is waited for") {
  TwoLanes lanes;
  const auto number = lanes.start(130);
  lanes.compute(100);
  CHECK(lanes.wait(number) == doctest::Approx(30));
  CHECK(lanes.now() == doctest::Approx(130));
}

TEST_CASE("two lanes: both slow each other down while both run") {
  // The collective needs 50 x 1.2 = 60 beside computation, of which 60 / 1.5 = 40 are done then.
  TwoLanes lanes(1.2);
  static_cast<void>(lanes.start(50));
  lanes.compute(100, 1.5);
  CHECK(lanes.now() == doctest::Approx(60 + 60));
}

TEST_CASE("two lanes: collectives follow each other") {
  TwoLanes lanes;
  const auto first = lanes.start(20);
  const auto second = lanes.start(20);
  lanes.compute(10);
  CHECK(lanes.wait(first) == doctest::Approx(10));
  lanes.compute(5);
  CHECK(lanes.wait(second) == doctest::Approx(15));
  CHECK(lanes.wait_all() == doctest::Approx(0));
  CHECK(lanes.now() == doctest::Approx(40));
}
