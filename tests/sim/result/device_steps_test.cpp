#include "sim/result/device_steps.h"

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "tests/sim/graph/step_graph.h"

namespace foretrace {
namespace {

std::vector<DeviceStep> steps_of(const TaskGraph& graph) {
  return device_steps(graph, simulate(graph));
}

TEST_CASE("device work of a step reaches from its first start to its last end") {
  // k starts at 10 and ends at 60; m follows after its gap of 5 and ends at 85.
  const TaskGraph graph = test::with_steps(
      test::graph("h:b(0) h:a(10) s:k(50)<a h:c(10) s:m(20,5)<c h:e(0)"), {{"b", "e", "k m"}});
  const DeviceStep step = steps_of(graph).at(0);
  CHECK(step.begin_ns == 10);
  CHECK(step.end_ns == 85);
  CHECK(step.work_ns == 75);  // 50 + 5 + 20: the stream needs the gap whatever the host does
  CHECK(step.operations == 2);
  CHECK(graph.name(step.first) == "k");
  CHECK(graph.name(step.last) == "m");
}

TEST_CASE("time in which the device waits for the host is no device work") {
  // m could start at 65 but is launched at 110: of the idle 50 only the gap of 5 counts.
  const TaskGraph graph = test::with_steps(
      test::graph("h:b(0) h:a(10) s:k(50)<a h:c(100) s:m(20,5)<c h:e(0)"), {{"b", "e", "k m"}});
  CHECK(steps_of(graph).at(0).work_ns == 75);
}

TEST_CASE("an instant with work of two steps counts once, for the work that began first") {
  // s1 holds k from 10 to 110; n of the next step runs on s2 from 20 to 130: 20 of it are its own.
  const TaskGraph graph =
      test::with_steps(test::graph("h:b(0) h:a(10) s1:k(100)<a h:x(0) h:c(10) s2:n(110)<c h:e(0)"),
                       {{"b", "x", "k"}, {"x", "e", "n"}});
  const std::vector<DeviceStep> steps = steps_of(graph);
  CHECK(steps[0].work_ns == 100);
  CHECK(steps[1].work_ns == 20);
}

TEST_CASE("work from before the first step takes its time from nobody") {
  // The stream is busy with p until 100; k is launched at 10, waits, and has 50 of its own.
  const TaskGraph graph =
      test::with_steps(test::graph("s:p(100) h:b(0) h:a(10) s:k(50)<a h:e(0)"), {{"b", "e", "k"}});
  const DeviceStep step = steps_of(graph).at(0);
  CHECK(step.begin_ns == 100);
  CHECK(step.work_ns == 50);
}

TEST_CASE("each rank has a device of its own") {
  const TaskGraph graph =
      test::with_steps(test::graph("r0/h:b(0) r0/h:a(10) r0/s:k(50)<a r0/h:e(0) "
                                   "r1/h:c(0) r1/h:d(10) r1/s:m(70)<d r1/h:f(0)"),
                       {{"b", "e", "k", 0}, {"c", "f", "m", 1}});
  CHECK(steps_of(graph)[0].work_ns == 50);
  CHECK(steps_of(graph)[1].work_ns == 70);
}

TEST_CASE("what was not recorded is left out") {
  const TaskGraph graph = test::with_steps(test::graph("h:b(0) h:a(10) s:k(50)<a s:m(20)<a h:e(0)"),
                                           {{"b", "e", "k m"}});
  Timeline timeline = simulate(graph);
  timeline.points[2 * index(test::task(graph, "m"))] = -1;
  CHECK(device_steps(graph, timeline).at(0).operations == 1);
  CHECK(device_steps(graph, timeline).at(0).end_ns == 60);
}

}  // namespace
}  // namespace foretrace
