#include "apps/scheduling/solver/assignment.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "sim/core/mersenne.h"

namespace foretrace::scheduling::test {
namespace {

// The least sum of finish times over all ways to give jobs to kinds, each kind dealing its jobs
// from the longest to the shortest round its machines.
double best_sum(const MachineAssignment& problem) {
  const std::size_t kinds = problem.machines.size();
  const std::size_t jobs = problem.times.size();
  double best = 1e300;
  std::vector<std::size_t> choice(jobs, 0);
  while (true) {
    double sum = 0;
    for (std::size_t k = 0; k < kinds; ++k) {
      std::vector<double> times;
      for (std::size_t j = 0; j < jobs; ++j) {
        if (choice[j] == k) times.push_back(problem.times[j][k]);
      }
      std::sort(times.rbegin(), times.rend());
      for (std::size_t i = 0; i < times.size(); ++i) {
        const std::size_t round = 1 + i / static_cast<std::size_t>(problem.machines[k]);
        sum += times[i] * static_cast<double>(round);
      }
    }
    best = std::min(best, sum);
    std::size_t j = 0;
    while (j < jobs && ++choice[j] == kinds) choice[j++] = 0;
    if (j == jobs) return best;
  }
}

double sum_of(const MachineAssignment& problem, const std::vector<std::int32_t>& kinds) {
  double sum = 0;
  for (std::size_t k = 0; k < problem.machines.size(); ++k) {
    std::vector<double> times;
    for (std::size_t j = 0; j < kinds.size(); ++j) {
      if (kinds[j] == static_cast<std::int32_t>(k)) times.push_back(problem.times[j][k]);
    }
    std::sort(times.rbegin(), times.rend());
    for (std::size_t i = 0; i < times.size(); ++i) {
      const std::size_t round = 1 + i / static_cast<std::size_t>(problem.machines[k]);
      sum += times[i] * static_cast<double>(round);
    }
  }
  return sum;
}

TEST_CASE("assignment: the sum of finish times is the least of all, for random jobs") {
  Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    MachineAssignment problem;
    const std::size_t kinds = 1 + random.below(3);
    for (std::size_t k = 0; k < kinds; ++k) {
      problem.machines.push_back(static_cast<std::int32_t>(1 + random.below(3)));
    }
    const std::size_t jobs = 1 + random.below(7);
    for (std::size_t j = 0; j < jobs; ++j) {
      problem.times.emplace_back();
      for (std::size_t k = 0; k < kinds; ++k) problem.times.back().push_back(random.uniform(1, 20));
    }
    CHECK(sum_of(problem, least_mean_finish(problem)) == doctest::Approx(best_sum(problem)));
  }
}

TEST_CASE("assignment: a job that runs nowhere stays out, one that runs somewhere goes there") {
  const double never = std::numeric_limits<double>::infinity();
  const std::vector<std::int32_t> kinds =
      least_mean_finish({.times = {{1, never}, {never, never}, {never, 5}}, .machines = {1, 1}});
  CHECK(kinds == std::vector<std::int32_t>{0, -1, 1});
}

}  // namespace
}  // namespace foretrace::scheduling::test
