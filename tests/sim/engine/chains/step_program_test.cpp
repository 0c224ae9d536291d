#include "sim/engine/chains/step_program.h"

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/sim/engine/random_graph.h"

namespace foretrace {
namespace {

/// A random run with steps: a part of its launches only goes on with its thread.
test::Parts random_run(std::size_t lanes, std::uint64_t seed) {
  test::Parts parts = test::random_parts({.tasks = 400, .lanes = lanes, .seed = seed});
  std::mt19937_64 random(seed);
  std::vector<OverflowDependency> overflow;
  std::vector<std::int64_t> overflow_lags;
  for (std::size_t i = 0; i < parts.duration_ns.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    const bool is_launch = parts.columns.kind[i] == TaskKind::launch;
    if (random() % 10 < (is_launch ? 8U : 2U)) {
      parts.set(task, cause_slot, no_point, DependencyKind::none);
      parts.set(task, extra_slot, no_point, DependencyKind::none);
    } else if (random() % 2 == 0) {
      parts.set(task, extra_slot, no_point, DependencyKind::none);
    }
    constexpr TaskKind device_kinds[] = {TaskKind::kernel, TaskKind::copy, TaskKind::set,
                                         TaskKind::collective};
    if (!is_launch) parts.columns.kind[i] = device_kinds[random() % 4];
    parts.columns.step[i] = static_cast<std::int32_t>(random() % 5) - 1;
    if (random() % 8 == 0) parts.duration_ns[i] = 0;
  }
  for (std::size_t i = 0; i < parts.topology.overflow.size(); ++i) {
    if (random() % 3 == 0) continue;
    overflow.push_back(parts.topology.overflow[i]);
    overflow_lags.push_back(parts.overflow_lag_ns[i]);
  }
  parts.topology.overflow = std::move(overflow);
  parts.overflow_lag_ns = std::move(overflow_lags);
  std::vector<TaskId> marks;
  for (std::size_t i = 0; i < parts.duration_ns.size(); i += 80) {
    std::size_t at = i;
    while (parts.columns.kind[at] != TaskKind::launch) ++at;
    marks.push_back(make_id<TaskId>(at));
  }
  for (std::size_t i = 0; i + 1 < marks.size(); ++i) {
    parts.context.steps.push_back({0, static_cast<std::int64_t>(i), marks[i], marks[i + 1]});
  }
  parts.finish();
  return parts;
}

/// By the definition: every time is scaled, everything is simulated.
StepTimes expected_steps(const TaskGraph& graph, const Factors& factors) {
  Weights weights = graph.weights();
  std::vector<std::int64_t> duration = *weights.duration_ns;
  std::vector<std::int64_t> segment = *weights.segment_ns;
  const auto scale = [](std::int64_t& ns, double factor) {
    ns = std::llround(static_cast<double>(ns) * factor);
  };
  for (std::size_t i = 0; i < duration.size(); ++i) {
    scale(duration[i],
          factors[static_cast<std::size_t>(factor_of(graph.kind(make_id<TaskId>(i))))]);
    scale(segment[i], factors[static_cast<std::size_t>(Factor::host)]);
  }
  weights.duration_ns = std::make_shared<const std::vector<std::int64_t>>(std::move(duration));
  weights.segment_ns = std::make_shared<const std::vector<std::int64_t>>(std::move(segment));
  const TaskGraph scaled = graph.with_weights(weights);
  return simulated_steps(scaled, test::naive_simulate(scaled.topology(), weights));
}

void check_same_steps(const StepTimes& got, const StepTimes& expected) {
  CHECK(got.numbers == expected.numbers);
  CHECK(got.begin_ns == expected.begin_ns);
  CHECK(got.host_ns == expected.host_ns);
  CHECK(got.device_ns == expected.device_ns);
  CHECK(got.reach_ns == expected.reach_ns);
  REQUIRE(got.device.size() == expected.device.size());
  for (std::size_t i = 0; i < got.device.size(); ++i) {
    CHECK(got.device[i].begin_ns == expected.device[i].begin_ns);
    CHECK(got.device[i].end_ns == expected.device[i].end_ns);
    CHECK(got.device[i].work_ns == expected.device[i].work_ns);
    CHECK(got.device[i].operations == expected.device[i].operations);
  }
}

constexpr Factors questions[] = {{1, 1, 1, 1},     {0.5, 1, 1, 1},   {0.5, 1, 1, 3},
                                 {0.5, 7, 1, 3},   {2, 0.1, 4, 0.3}, {0, 0, 0, 0},
                                 {2, 0.1, 4, 0.3}, {1, 1, 0, 1},     {1, 1, 1, 1}};

}  // namespace

TEST_CASE("step program: whatever was asked before, it answers what simulating everything gives") {
  for (const std::size_t lanes : {2U, 3U, 4U, 9U}) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      CAPTURE(lanes);
      CAPTURE(seed);
      const TaskGraph graph = random_run(lanes, seed).graph();
      const auto program = StepProgram::of(graph);
      REQUIRE(program.has_value());
      StepProgram::State state;
      StepTimes steps;
      for (const Factors& factors : questions) {
        program->run(factors, state, steps);
        check_same_steps(steps, expected_steps(graph, factors));
      }
    }
  }
}

TEST_CASE("step program: without steps the span answers") {
  for (const std::size_t lanes : {2U, 5U}) {
    test::Parts parts = random_run(lanes, 50);
    parts.context.steps.clear();
    parts.columns.step.assign(parts.columns.step.size(), -1);
    const TaskGraph graph = parts.graph();
    const auto program = StepProgram::of(graph);
    REQUIRE(program.has_value());
    StepProgram::State state;
    StepTimes steps;
    for (const Factors& factors : questions) {
      program->run(factors, state, steps);
      CHECK(steps.host_ns.empty());
      CHECK(steps.span_ns == expected_steps(graph, factors).span_ns);
    }
  }
}

TEST_CASE("step program: a thread's state goes from one program to another and back") {
  const TaskGraph first = random_run(2, 100).graph();
  const TaskGraph second = random_run(6, 101).graph();
  const auto one = StepProgram::of(first);
  const auto two = StepProgram::of(second);
  REQUIRE((one && two));
  StepProgram::State state;
  StepTimes steps;
  for (const Factors& factors : questions) {
    one->run(factors, state, steps);
    check_same_steps(steps, expected_steps(first, factors));
    two->run(factors, state, steps);
    check_same_steps(steps, expected_steps(second, factors));
  }
}

TEST_CASE("step program: it declines lanes that policies order, and work of two parts") {
  test::Parts parts = random_run(4, 7);
  CHECK(StepProgram::of(parts.graph()).has_value());
  parts.context.lanes[1].policy = LanePolicy::priority;
  CHECK_FALSE(StepProgram::of(parts.graph()).has_value());
  parts.context.lanes[1].policy = LanePolicy::program_order;
  parts.context.works.push_back(Work{});
  parts.context.works.front().part = TaskPart::begin;
  CHECK_FALSE(StepProgram::of(parts.graph()).has_value());
  parts.context.works.front().part = TaskPart::whole;
  parts.duration_ns.front() = -1;
  CHECK_FALSE(StepProgram::of(parts.graph()).has_value());
}

}  // namespace foretrace
