#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "sim/edit/editor.h"
#include "tests/sim/edit/apply.h"

using namespace foretrace;
using test::graph;
using test::task;
using test::tasks;

TEST_CASE("scale: halves the tasks that are named, rounding to the nearest ns") {
  const TaskGraph g = graph("h:l(5,3) s:a(10,2)<l s:b(21)");
  Editor editor(g);
  REQUIRE(editor.scale(tasks(g, {"a", "b"}), 0.5).ok());
  CHECK(test::after(g, editor.change()) == "h:l(5,3) s:a(5,2)<l s:b(11)");
  CHECK(test::committed(g, editor.change()).graph.provenance(task(g, "a")) == Provenance::scaled);
}

TEST_CASE("scale: the segment before a task scales alone or along") {
  const TaskGraph g = graph("h:a(10,30) h:b(10,40)");
  Editor segment(g);
  REQUIRE(segment.scale(tasks(g, {"b"}), 2.0, ScaleOf::segment).ok());
  CHECK(test::after(g, segment.change()) == "h:a(10,30) h:b(10,80)");
  Editor both(g);
  REQUIRE(both.scale(tasks(g, {"a", "b"}), 0.5, ScaleOf::duration_and_segment).ok());
  CHECK(test::after(g, both.change()) == "h:a(5,15) h:b(5,20)");
}

TEST_CASE("scale: bounds and provenance go with the edit") {
  const TaskGraph g = graph("s:a(10)");
  Editor editor(g);
  REQUIRE(editor.scale(tasks(g, {"a"}), 0.5, ScaleOf::duration, {Provenance::roofline, 0.9F, 1.2F})
              .ok());
  const Committed c = test::committed(g, editor.change());
  CHECK(c.graph.provenance(TaskId{0}) == Provenance::roofline);
  CHECK(c.low.at(0) == 0.9F);
  CHECK(c.high.at(0) == 1.2F);
}

TEST_CASE("scale: a factor that makes no sense is an error, and nothing changes") {
  const TaskGraph g = graph("s:a(10)");
  Editor editor(g);
  for (const double factor : {-1.0, std::nan(""), HUGE_VAL, 1e18}) {
    CHECK_FALSE(editor.scale(tasks(g, {"a"}), factor).ok());
  }
  CHECK(editor.change().empty());
}

TEST_CASE("set: durations, segments and lags take the given values") {
  const TaskGraph g = graph("h:l(5,3) s:a(10,2)<l+4 s:b(20)");
  Editor editor(g);
  editor.set_duration(task(g, "a"), 7);
  editor.set_segment(task(g, "l"), 1);
  editor.set_lag(task(g, "a"), DependencyKind::launch, 6);
  CHECK(test::after(g, editor.change()) == "h:l(5,1) s:a(7,2)<l+6 s:b(20)");
}
