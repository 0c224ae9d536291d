#include "sim/core/statistics.h"

#include <cstdint>

#include <doctest/doctest.h>

using namespace foretrace;
using Values = std::vector<std::int64_t>;

TEST_CASE("statistics: of two middle values each median takes its own") {
  const Values values{9, 1, 4, 7};  // in order 1 4 7 9
  CHECK(lower_median(values) == 4);
  CHECK(upper_median(values) == 7);
}

TEST_CASE("statistics: one middle value is every median; none is what was asked for") {
  const Values values{5, 3, 8};
  CHECK(lower_median(values) == 5);
  CHECK(upper_median(values) == 5);
  CHECK(lower_median(Values{}, std::int64_t{-1}) == -1);
  CHECK(upper_median(Values{}) == 0);
}

TEST_CASE("statistics: a percentile has that share of the values before it") {
  Values values(200);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::int64_t>(199 - i);
  }
  CHECK(percentile(values, 0) == 0);
  CHECK(percentile(values, 1) == 2);
  CHECK(percentile(values, 25) == 50);
  CHECK(percentile(values, 100) == 199);
}

TEST_CASE("statistics: the middle half forgets wild values and ticks of the clock") {
  CHECK(mean_of_middle_half(Values{1, 1, 2, 1000}) == 1);        // (1 + 2) / 2
  CHECK(mean_of_middle_half(std::vector<double>{1, 2}) == 1.5);  // no quarter to leave out
  CHECK(median_deviation(Values{10, 12, 11, 1000}) == 2);        // from 12: 0 1 2 988
  CHECK(median_deviation(Values{}) == 0);
}
