#include <doctest/doctest.h>

#include "sim/edit/editor.h"
#include "sim/engine/pull/pull.h"
#include "tests/sim/edit/apply.h"

using namespace foretrace;
using test::graph;
using test::task;

TEST_CASE("split: parts add up, the last one is what others wait for") {
  const TaskGraph g = graph("h:l(1) s:k(32,3)<l+2 s2:m(5)<k+1 s2:n(5)<^k*0.5 h:x(0)~s");
  Editor editor(g);
  const auto parts = editor.split(task(g, "k"), {.parts = 3});
  REQUIRE(parts.ok());
  CHECK(parts->size() == 3);
  CHECK(test::after(g, editor.change()) ==
        "h:l(1) s:k(11,3)<l+2 s:k(11)<l+2 s:k(10)<l+2 s2:m(5)<k+1 s2:n(5)<^k+16 h:x(0)~k");
  const TaskGraph after = test::committed(g, editor.change()).graph;
  CHECK(after.topology().sources[4][cause_slot] == end_of(TaskId{3}));
  CHECK(simulate(after).span_ns == simulate(g).span_ns);
}

TEST_CASE("split: each part may have a call of its own") {
  const TaskGraph g = graph("h:l(1) s:k(30)<l+2 h:x(1)");
  Editor editor(g);
  REQUIRE(editor.split(task(g, "k"), {.parts = 2, .gap_ns = 1, .launch = SplitLaunch{4, 9}}).ok());
  CHECK(test::after(g, editor.change()) == "h:l(1) s:k(15)<l+2 h:l(4,9) s:k(15,1)<l+2 h:x(1)");
}

TEST_CASE("split: no parts or more parts than ns are an error") {
  const TaskGraph g = graph("s:k(3)");
  Editor editor(g);
  CHECK_FALSE(editor.split(TaskId{0}, {.parts = 0}).ok());
  CHECK(editor.split(TaskId{0}, {.parts = 4}).error().message ==
        "split: got 4 parts for a task of 3 ns, expected 1 to 3");
  CHECK(editor.split(TaskId{0}, {.parts = 1})->size() == 1);
  CHECK(editor.change().empty());
}
