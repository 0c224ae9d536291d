#include <doctest/doctest.h>

#include "sim/edit/editor.h"
#include "sim/engine/pull/pull.h"
#include "tests/sim/edit/apply.h"

using namespace foretrace;
using test::graph;
using test::tasks;

TEST_CASE("remove: a kernel goes with its launch, a launch with its kernel") {
  const TaskGraph g = graph("h:l1(5) s:k1(20)<l1 h:l2(5,4) s:k2(20)<l2 h:l3(5) s:k3(20)<l3");
  Editor editor(g);
  CHECK(editor.remove(tasks(g, {"k2"})).size() == 2);
  CHECK(test::after(g, editor.change()) == "h:l1(5) s:k1(20)<l1 h:l3(5,4) s:k3(20)<l3");
  Editor other(g);
  other.remove(tasks(g, {"l2"}), {.host = SegmentOf::take});
  CHECK(test::after(g, other.change()) == "h:l1(5) s:k1(20)<l1 h:l3(5) s:k3(20)<l3");
}

TEST_CASE("remove: a launch stays while it enqueues something else") {
  const TaskGraph g = graph("h:l(5) s:a(1)<l s:b(2)<l h:m(5) s:c(3)<m");
  Editor editor(g);
  CHECK(editor.remove(tasks(g, {"a"})).size() == 1);
  CHECK(test::after(g, editor.change()) == "h:l(5) s:b(2)<l h:m(5) s:c(3)<m");
  Editor both(g);
  CHECK(both.remove(tasks(g, {"a", "b"})).size() == 3);
}

TEST_CASE("remove: alone means alone") {
  const TaskGraph g = graph("h:a(1) h:l(5) s:k(9)<l+2");
  Editor editor(g);
  editor.remove(tasks(g, {"l"}), {.partners = Partners::alone});
  CHECK(test::after(g, editor.change()) == "h:a(1) s:k(9)<a+2");
}

TEST_CASE("remove: a synchronization goes as a whole, and nobody waits any more") {
  GraphBuilder builder;
  const LaneId h = builder.add_lane({LaneKind::host_thread, 0, no_device, 1, 0, "h"});
  const LaneId s = builder.add_lane({LaneKind::stream, 0, 0, 7, 0, "s"});
  const auto work = [&](const char* name, TaskKind kind, TaskPart part) {
    Work w;
    w.name = builder.add_name(name);
    w.kind = kind;
    w.part = part;
    return builder.add_work(w);
  };
  builder.add_task({s, work("k", TaskKind::kernel, TaskPart::whole), TaskKind::kernel, 100});
  builder.add_task(
      {h, work("begin", TaskKind::synchronization, TaskPart::begin), TaskKind::synchronization, 3});
  builder.add_task({h, work("finish", TaskKind::synchronization, TaskPart::finish),
                    TaskKind::synchronization, 2});
  builder.add_task({h, work("next", TaskKind::host, TaskPart::whole), TaskKind::host, 1});
  builder.add_dependency({end_of(TaskId{0}), TaskId{2}, DependencyKind::synchronization, 4});
  const TaskGraph g = *std::move(builder).build();
  CHECK(simulate(g).span_ns == 107);  // 100 + 4 + 2 + 1
  for (const char* half : {"begin", "finish"}) {
    Editor editor(g);
    editor.remove(tasks(g, {half}));
    CHECK(test::after(g, editor.change()) == "s:k(100) h:next(1)");
  }
}
