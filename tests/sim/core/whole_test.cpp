#include "sim/core/whole.h"

#include <initializer_list>
#include <limits>

#include <doctest/doctest.h>

using foretrace::fits_whole;
using foretrace::most_whole;
using foretrace::to_count;
using foretrace::to_whole;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("whole: the nearest one, halves away from 0") {
  CHECK(to_whole(0) == 0);
  CHECK(to_whole(2.5) == 3);
  CHECK(to_whole(-2.5) == -3);
  CHECK(to_whole(0.49999999999999994) == 0);
  CHECK(to_whole(9007199254740993.0) == 9007199254740992);
}

TEST_CASE("whole: what no whole number holds becomes the largest, and does not fit") {
  for (const double value : {infinite, no_number, 1e300, 0x1p62, 9.3e18}) {
    CAPTURE(value);
    CHECK(to_whole(value) == most_whole);
    CHECK_FALSE(fits_whole(value));
  }
  CHECK(to_whole(-infinite) == -most_whole);
  CHECK(to_whole(-1e300) == -most_whole);
  CHECK(fits_whole(0x1p61));
  CHECK(fits_whole(-0x1p61));
  // Two of the largest can be added up.
  CHECK(most_whole - 1 + most_whole > 0);
}

TEST_CASE("whole: a count is none below 0 and ends at 32 bits") {
  CHECK(to_count(-1) == 0);
  CHECK(to_count(-infinite) == 0);
  CHECK(to_count(2.5) == 3);
  CHECK(to_count(4294967294.0) == 4294967294U);
  for (const double value : {4294967295.0, 4294967294.9, 1e12, infinite, no_number}) {
    CAPTURE(value);
    CHECK(to_count(value) == 4294967295U);
  }
}
