#include <doctest/doctest.h>

#include "sim/edit/editor.h"
#include "sim/engine/pull/pull.h"
#include "tests/sim/edit/apply.h"

using namespace foretrace;
using test::graph;
using test::task;

TEST_CASE("insert: a task stands before or after its anchor") {
  const TaskGraph g = graph("h:a(1) h:b(2)");
  Editor editor(g);
  TaskSpec spec = editor.like(task(g, "a"));
  spec.duration_ns = 7;
  const TaskId x = editor.insert(spec, task(g, "a"));
  spec.duration_ns = 8;
  editor.insert(spec, x, Place::before);
  CHECK(test::after(g, editor.change()) == "h:a(1) h:a(8) h:a(7) h:b(2)");
}

TEST_CASE("insert: device work comes with the call that enqueues it") {
  const TaskGraph g = graph("h:l(5,1) s:k(20)<l+3 h:m(5) s:n(9)<m+3");
  Editor editor(g);
  TaskSpec call = editor.like(task(g, "l"));
  TaskSpec work = editor.like(task(g, "k"));
  work.work = editor.add_work(g.work(task(g, "k")), "new");
  const Launched pair = editor.insert({call, work, 2}, task(g, "k"));
  CHECK(test::after(g, editor.change()) ==
        "h:l(5,1) s:k(20)<l+3 h:l(5) s:new(20)<l+2 h:m(5) s:n(9)<m+3");
  CHECK(pair.call == TaskId{4});
  CHECK(pair.device == TaskId{5});
}

TEST_CASE("insert: work on a new lane runs beside the rest") {
  const TaskGraph g = graph("h:l(5) s:k(20)<l");
  Editor editor(g);
  Lane lane = g.lane(task(g, "k"));
  lane.name = "s9";
  TaskSpec work = editor.like(task(g, "k"));
  work.lane = editor.add_lane(lane);
  editor.insert({editor.like(task(g, "l")), work, 0}, task(g, "k"));
  CHECK(test::after(g, editor.change()) == "h:l(5) s:k(20)<l h:l(5) s9:k(20)<l");
  CHECK(simulate(test::committed(g, editor.change()).graph).span_ns == 30);  // 5 + 5 + 20
}

TEST_CASE("share_waits: work before another waits for what that waits for, but for its launch") {
  const TaskGraph g = graph("h:z(1) s2:e(50)<z s2:f(9) h:l(1) s:k(20)<l+3<e+2~s2@l");
  Editor editor(g);
  const Launched x = editor.insert({editor.like(task(g, "l")), editor.like(task(g, "k")), 2},
                                   task(g, "l"), Place::before);
  editor.share_waits(x.device, task(g, "k"));
  CHECK(test::after(g, editor.change()) ==
        "h:z(1) s2:e(50)<z s2:f(9) h:l(1) s:k(20)<l+2<e+2<f h:l(1) s:k(20)<l+3<e+2~f");
}

TEST_CASE("add_work: the same work again is the same id") {
  const TaskGraph g = graph("s:k(20)");
  Editor editor(g);
  const WorkId first = editor.add_work(g.work(TaskId{0}), "x");
  CHECK(editor.add_work(g.work(TaskId{0}), "x") == first);
  CHECK(editor.add_work(g.work(TaskId{0}), "y") != first);
}
