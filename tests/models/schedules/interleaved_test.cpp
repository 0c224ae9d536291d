#include <doctest/doctest.h>

#include "models/schedules/execution.h"

using foretrace::drawn;
using foretrace::find_schedule;

TEST_CASE("interleaved: chunks take turns in groups of as many micro-batches as stages") {
  const auto schedule = find_schedule("interleaved");
  REQUIRE(schedule.ok());
  // Megatron-LM: warm-up 2 (p - r - 1) + (v - 1) p forward steps
  CHECK(drawn(**schedule, {2, 2, 2}) ==
        "stage 0: F0a F1a F0b F1b B0b B1b B0a B1a\n"
        "stage 1: F0a F1a F0b B0b F1b B1b B0a B1a\n");
}

TEST_CASE("interleaved: one stage and odd numbers of micro-batches are refused") {
  const auto schedule = find_schedule("interleaved");
  REQUIRE(schedule.ok());
  CHECK_FALSE(check_shape(**schedule, {1, 4, 2}).ok());
  CHECK_FALSE(check_shape(**schedule, {4, 5, 2}).ok());
}
