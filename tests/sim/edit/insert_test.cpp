#include "sim/edit/insert.h"

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "tests/sim/edit/apply.h"

using namespace foretrace;
using test::graph;
using test::task;

TEST_CASE("insert: a task stands before or after its anchor") {
  const TaskGraph g = graph("h:a(1) h:b(2)");
  Change change;
  TaskSpec spec = transform::like(g, task(g, "a"));
  spec.duration_ns = 7;
  const TaskId x = transform::insert(change, g, spec, task(g, "a"));
  spec.duration_ns = 8;
  transform::insert(change, g, spec, x, Place::before);
  CHECK(test::after(g, change) == "h:a(1) h:a(8) h:a(7) h:b(2)");
}

TEST_CASE("insert_pair: device work comes with the call that enqueues it") {
  const TaskGraph g = graph("h:l(5,1) s:k(20)<l+3 h:m(5) s:n(9)<m+3");
  Change change;
  TaskSpec call = transform::like(g, task(g, "l"));
  TaskSpec work = transform::like(g, task(g, "k"));
  work.work = transform::add_work(change, g, g.work(task(g, "k")), "new");
  const auto pair = transform::insert_pair(change, g, {call, work, 2, task(g, "k")});
  CHECK(test::after(g, change) == "h:l(5,1) s:k(20)<l+3 h:l(5) s:new(20)<l+2 h:m(5) s:n(9)<m+3");
  CHECK(pair.launch == TaskId{4});
  CHECK(pair.device == TaskId{5});
}

TEST_CASE("insert_pair: work on a new lane runs beside the rest") {
  const TaskGraph g = graph("h:l(5) s:k(20)<l");
  Change change;
  Lane lane = g.lane(task(g, "k"));
  lane.name = "s9";
  TaskSpec work = transform::like(g, task(g, "k"));
  work.lane = transform::add_lane(change, g, lane);
  transform::insert_pair(change, g, {transform::like(g, task(g, "l")), work, 0, task(g, "k")});
  CHECK(test::after(g, change) == "h:l(5) s:k(20)<l h:l(5) s9:k(20)<l");
  CHECK(simulate(test::committed(g, change).graph).span_ns == 30);  // 5 + 5 + 20
}

TEST_CASE("add_work: the same work again is the same id") {
  const TaskGraph g = graph("s:k(20)");
  Change change;
  const WorkId first = transform::add_work(change, g, g.work(TaskId{0}), "x");
  CHECK(transform::add_work(change, g, g.work(TaskId{0}), "x") == first);
  CHECK(transform::add_work(change, g, g.work(TaskId{0}), "y") != first);
}
