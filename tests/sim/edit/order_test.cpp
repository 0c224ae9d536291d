#include <doctest/doctest.h>

#include "sim/edit/editor.h"
#include "sim/engine/pull/pull.h"
#include "tests/sim/edit/apply.h"

using namespace foretrace;
using test::graph;
using test::task;
using test::tasks;

TEST_CASE("move: tasks run on the other lane, in program order") {
  const TaskGraph g = graph("s:a(10) s:k(20) s:b(5) s2:c(7)");
  Editor editor(g);
  editor.move(tasks(g, {"k"}), g.lane_id(task(g, "c")));
  CHECK(test::after(g, editor.change()) == "s:a(10) s2:k(20) s:b(5) s2:c(7)");
  CHECK(simulate(g).span_ns == 35);
  CHECK(simulate(test::committed(g, editor.change()).graph).span_ns == 27);  // 20 + 7 beside 15
}

TEST_CASE("reorder: tasks go behind the anchor and keep their order") {
  const TaskGraph g = graph("s:a(1) s:b(2) s:c(3) s:d(4)");
  Editor editor(g);
  editor.reorder(tasks(g, {"a", "b"}), task(g, "d"));
  CHECK(test::after(g, editor.change()) == "s:c(3) s:d(4) s:a(1) s:b(2)");
  Editor before(g);
  before.reorder(tasks(g, {"c", "d"}), task(g, "a"), Place::before);
  CHECK(test::after(g, before.change()) == "s:c(3) s:d(4) s:a(1) s:b(2)");
}

TEST_CASE("set_order: a stream runs in the order that is given, launches come in time") {
  const TaskGraph g = graph("h:l1(1) s:a(10)<l1 h:l2(1) s:b(20)<l2 h:l3(1) s:c(30)<l3");
  Editor editor(g);
  editor.set_order(tasks(g, {"b", "c", "a"}));
  CHECK(test::after(g, editor.change()) ==
        "h:l1(1) h:l2(1) s:b(20)<l2 h:l3(1) s:c(30)<l3 s:a(10)<l1");
}

TEST_CASE("set_order: what follows as listed already stays, also with others between") {
  const TaskGraph g = graph("h:l1(1) s:a(10)<l1 h:l2(1) s:x(5)<l2 h:l3(1) s:b(20)<l3");
  Editor same(g);
  same.set_order(tasks(g, {"a", "b"}));
  CHECK(same.change().empty());
  Editor editor(g);
  editor.set_order(tasks(g, {"x", "a", "b"}));
  CHECK(test::after(g, editor.change()) ==
        "h:l1(1) h:l2(1) s:x(5)<l2 s:a(10)<l1 h:l3(1) s:b(20)<l3");
}

TEST_CASE("set_queue_depth: a shallow queue holds the host back") {
  const TaskGraph g = graph("h:l1(1) s:a(10)<l1 h:l2(1) s:b(10)<l2 h:l3(1) s:c(10)<l3");
  Editor editor(g);
  editor.set_queue_depth(g.lane_id(task(g, "a")), 1);
  CHECK(test::after(g, editor.change()) ==
        "h:l1(1) s:a(10)<l1 h:l2(1)~^a s:b(10)<l2 h:l3(1)~^b s:c(10)<l3");
}

TEST_CASE("prioritize, set_policy: the graph carries what the event-driven engine reads") {
  const TaskGraph g = graph("s:a(1) s:b(2)");
  Editor editor(g);
  editor.prioritize(tasks(g, {"b"}), -1);
  editor.set_policy(LaneId{0}, LanePolicy::priority);
  const TaskGraph after = test::committed(g, editor.change()).graph;
  CHECK(after.context().lanes[0].policy == LanePolicy::priority);
  REQUIRE(after.context().priorities.size() == 1);
  CHECK(after.context().priorities[0].task == task(g, "b"));
}
