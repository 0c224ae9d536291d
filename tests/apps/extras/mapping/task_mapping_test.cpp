#include "apps/extras/mapping/task_mapping.h"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>

using namespace foretrace::mapping;

namespace {

/// A transfer takes its bytes between any two devices.
TaskProblem on(std::size_t devices) {
  TaskProblem problem;
  problem.devices = devices;
  problem.delay.assign(devices, std::vector<double>(devices, 0));
  problem.per_byte.assign(devices, std::vector<double>(devices, 1));
  return problem;
}

/// The example of the paper: ten tasks on three processors.
TaskProblem example_of_heft() {
  TaskProblem problem = on(3);
  problem.time = {{14, 16, 9}, {13, 19, 18}, {11, 13, 19}, {13, 8, 17},  {12, 13, 10},
                  {13, 16, 9}, {7, 15, 11},  {5, 11, 14},  {18, 12, 20}, {21, 7, 16}};
  problem.edges = {{0, 1, 18}, {0, 2, 12}, {0, 3, 9},  {0, 4, 11}, {0, 5, 14},
                   {1, 7, 19}, {1, 8, 16}, {2, 6, 23}, {3, 7, 27}, {3, 8, 23},
                   {4, 8, 13}, {5, 7, 15}, {6, 9, 17}, {7, 9, 11}, {8, 9, 13}};
  return problem;
}

TaskProblem random_problem(std::uint64_t seed, std::size_t tasks, std::size_t devices) {
  std::mt19937_64 random(seed);
  TaskProblem problem = on(devices);
  for (std::size_t t = 0; t < tasks; ++t) {
    std::vector<double> times;
    for (std::size_t d = 0; d < devices; ++d)
      times.push_back(1.0 + static_cast<double>(random() % 20));
    problem.time.push_back(times);
    for (std::size_t from = 0; from < t; ++from) {
      if (random() % 3 == 0) {
        problem.edges.push_back({from, t, static_cast<double>(random() % 15)});
      }
    }
  }
  return problem;
}

}  // namespace

TEST_CASE("task mapping: HEFT's own example takes 80") {
  const TaskProblem problem = example_of_heft();
  REQUIRE(check_problem(problem).ok());
  const TaskTimes times = heft(problem);
  CHECK(times.makespan == doctest::Approx(80));
  CHECK(times.start[0] == 0);
  CHECK(times.device[0] == 2);
  CHECK(times.end[9] == doctest::Approx(80));
}

TEST_CASE("task mapping: a device takes tasks in the order in which they become ready") {
  // Two sources of 10 and 4 on devices 0 and 1; both followed on device 1 by tasks of 5; from
  // device 0 the bytes take 3: ready at 13 and at 4.
  TaskProblem problem = on(2);
  problem.time = {{10, 10}, {4, 4}, {5, 5}, {5, 5}};
  problem.edges = {{0, 2, 3}, {1, 3, 3}};
  const TaskTimes times = evaluate(problem, {0, 1, 1, 1});
  CHECK(times.start[3] == 4);
  CHECK(times.start[2] == 13);
  CHECK(times.makespan == 18);
  // The longest chain is 10 + 5.
  CHECK(times.stretch == doctest::Approx(18.0 / 15));
}

TEST_CASE("task mapping: what takes longer is never shorter than its chain, on random graphs") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const TaskProblem problem = random_problem(seed, 12, 3);
    REQUIRE(check_problem(problem).ok());
    const TaskTimes planned = heft(problem);
    CHECK(planned.stretch >= 1 - 1e-9);
    for (const TaskEdge& edge : problem.edges) {
      CHECK(planned.start[edge.to] + 1e-9 >=
            planned.end[edge.from] +
                problem.transfer(edge, planned.device[edge.from], planned.device[edge.to]));
    }
    const double before = evaluate(problem, planned.device).makespan;
    CHECK(improve(problem, {.evaluations = 300, .seed = seed}).makespan <= before);
  }
}

TEST_CASE("task mapping: no search ends above one device that takes all tasks") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    TaskProblem problem = random_problem(200 + seed, 5, 3);
    for (auto& edge : problem.edges) edge.bytes *= 50;  // dear links
    const double found = improve(problem, {.evaluations = 0, .seed = seed}).makespan;
    for (std::size_t device = 0; device < problem.devices; ++device) {
      const bool takes_all = std::all_of(problem.time.begin(), problem.time.end(),
                                         [&](const auto& times) { return times[device] >= 0; });
      if (!takes_all) continue;
      const std::vector<std::size_t> alone(problem.tasks(), device);
      CHECK(found <= evaluate(problem, alone).makespan);
    }
  }
}

TEST_CASE("task mapping: moves find the best of all mappings of a few tasks") {
  int best_found = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const TaskProblem problem = random_problem(100 + seed, 7, 2);
    double best = 1e300;
    for (std::size_t code = 0; code < 128; ++code) {
      std::vector<std::size_t> device(7);
      for (std::size_t t = 0; t < 7; ++t) device[t] = code >> t & 1U;
      best = std::min(best, evaluate(problem, device).makespan);
    }
    const double found = improve(problem, {.evaluations = 2000, .seed = seed}).makespan;
    CHECK(found >= best - 1e-9);
    best_found += found <= best + 1e-9 ? 1 : 0;
  }
  // Single moves end in a valley now and then.
  CHECK(best_found >= 6);
}

TEST_CASE("task mapping: a device that cannot run a task does not get it") {
  TaskProblem problem = on(2);
  problem.time = {{-1, 50}, {1, 9}};
  CHECK(heft(problem).device == std::vector<std::size_t>{1, 0});
  CHECK(improve(problem, {.evaluations = 100}).device[0] == 1);
}

TEST_CASE("task mapping: circles and wrong sizes are refused") {
  TaskProblem problem = on(1);
  problem.time = {{1}, {1}};
  problem.edges = {{0, 1, 0}, {1, 0, 0}};
  CHECK(check_problem(problem).error().message.find("cycle") != std::string::npos);
  problem.edges = {{0, 7, 0}};
  CHECK_FALSE(check_problem(problem).ok());
  problem.edges.clear();
  problem.time = {{1, 2}};
  CHECK_FALSE(check_problem(problem).ok());
  problem.time = {{-1}};
  CHECK(check_problem(problem).error().message.find("no device") != std::string::npos);
}
