#include "sim/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

namespace foretrace {
namespace {

TEST_CASE("parallel: every index is worked on once, whatever the number of threads") {
  for (const std::size_t threads : {0U, 1U, 3U, 64U}) {
    for (const std::size_t count : {0U, 1U, 2U, 1000U}) {
      std::vector<int> times(count, 0);
      for_each_index(
          count, [&](std::size_t i) { ++times[i]; }, threads);
      CHECK(std::all_of(times.begin(), times.end(), [](int n) { return n == 1; }));
    }
  }
}

TEST_CASE("parallel: an exception of the work comes back when all have ended") {
  std::atomic<int> running = 0;
  const auto work = [&](std::size_t i) {
    ++running;
    const bool fails = i == 10;
    --running;
    if (fails) throw std::runtime_error("ten");
  };
  CHECK_THROWS_WITH_AS(for_each_index(100000, work, 4), "ten", std::runtime_error);
  CHECK(running == 0);
}

TEST_CASE("parallel: after an exception nothing new is begun") {
  std::size_t done = 0;
  const auto work = [&](std::size_t i) {
    if (i == 10) throw std::runtime_error("ten");
    ++done;
  };
  CHECK_THROWS_AS(for_each_index(1000, work, 1), std::runtime_error);
  CHECK(done == 10);
}

}  // namespace
}  // namespace foretrace
