#include <doctest/doctest.h>

#include "sim/edit/editor.h"
#include "sim/engine/pull/pull.h"
#include "tests/sim/edit/apply.h"

using namespace foretrace;
using test::graph;
using test::task;
using test::tasks;

namespace {

/// What takes the place of a group: named kernels, with calls of 2 ns after 1 ns of host time.
std::vector<NewWork> work(Editor& editor,
                          const std::vector<std::pair<const char*, std::int64_t>>& named) {
  std::vector<NewWork> result;
  for (const auto& [name, duration_ns] : named) {
    NewWork next;
    next.work = editor.add_work(name, TaskKind::kernel);
    next.duration_ns = duration_ns;
    next.call = {editor.add_work("l", TaskKind::launch), 2, 1, 3};
    result.push_back(next);
  }
  return result;
}

struct Group {
  std::vector<TaskId> tasks;
  std::vector<std::pair<const char*, std::int64_t>> with;
  Stands stands = Stands::first;
};

std::string replaced(const TaskGraph& g, const std::vector<Group>& groups) {
  Editor editor(g);
  for (const Group& group : groups) {
    const auto result = editor.replace(group.tasks, work(editor, group.with), group.stands);
    REQUIRE_MESSAGE(result.ok(), result.error().message);
    CHECK(result->size() == group.with.size());
  }
  return test::after(g, editor.change());
}

bool is_refused(const TaskGraph& g, const std::vector<TaskId>& group) {
  Editor editor(g);
  const auto with = work(editor, {{"x", 1}});
  const bool refused = !editor.replace(group, with).ok();
  CHECK(editor.can_be_one(group) == !refused);
  CHECK((!refused || editor.change().removed.empty()));
  return refused;
}

}  // namespace

TEST_CASE("replace: kernels become one, with one call; host time before the first call stays") {
  const TaskGraph g = graph("h:l1(5,4) s:k1(10,2)<l1 h:l2(6,7) s:k2(20,3)<l2+4 h:x(1)~s");
  CHECK(replaced(g, {{tasks(g, {"k1", "k2"}), {{"fused", 25}}}}) ==
        "h:l(2,5) s:fused(25)<l+3 h:x(1)~fused");
}

TEST_CASE("replace: the new kernel starts when a collective of another stream has ended") {
  // Recorded (an explicit event) and inferred (the tail of the stream as of a position).
  for (const char* wait : {"<c", "~s2"}) {
    CAPTURE(wait);
    const TaskGraph g = graph("h:l0(5) s2:c(1000)<l0 h:l1(5) s:k1(10)<l1" + std::string(wait) +
                              " h:l2(5) s:k2(20)<l2 h:l3(5) s3:m(5)<l3<k1 h:l4(5) s2:n(7)<l4<k2");
    Editor editor(g);
    const auto put = editor.replace(tasks(g, {"k1", "k2"}), work(editor, {{"fused", 25}}));
    REQUIRE(put.ok());
    const Committed after = test::committed(g, editor.change());
    const Timeline timeline = simulate(after.graph);
    CHECK(timeline.start_ns(task(after.graph, "fused")) == 1005);
    CHECK(timeline.start_ns(task(after.graph, "m")) == 1030);
    CHECK(timeline.start_ns(task(after.graph, "n")) == 1030);
  }
}

TEST_CASE("replace: a sequence takes the place of a task") {
  const TaskGraph g = graph("h:l1(5) s:k1(10,2)<l1+4 h:x(1)~s s:z(3)");
  CHECK(replaced(g, {{tasks(g, {"k1"}), {{"a", 6}, {"b", 3}}}}) ==
        "h:l(2,1) s:a(6)<l+3 h:l(2,1) s:b(3)<l+3 h:x(1)~b s:z(3)");
}

TEST_CASE("replace: new tasks inherit who waits for whom, across groups, in either order") {
  const TaskGraph g =
      graph("s2:e(9) h:l1(1) s:k1(10)<l1<e h:l2(1) s:k2(20)<l2 h:l3(1) s2:m(5)<l3<k2 s2:n(5)<k1");
  const Group one{tasks(g, {"k1", "k2"}), {{"f", 7}}};
  const Group other{tasks(g, {"m"}), {{"q", 2}}};
  const std::string after = "s2:e(9) h:l(2,1) s:f(7)<l+3<e h:l(2,1) s2:q(2)<l+3<f s2:n(5)<f";
  CHECK(replaced(g, {one, other}) == after);
  CHECK(replaced(g, {other, one}) == after);
}

TEST_CASE("replace: a hand-over to a call that goes reaches the new call") {
  const TaskGraph g = graph("h:a(10) h2:l1(1)<a+7 s:k1(5)<l1 h2:l2(1) s:k2(5)<l2 h2:b(1)");
  CHECK(replaced(g, {{tasks(g, {"k1", "k2"}), {{"f", 7}}}}) ==
        "h:a(10) h2:l(2,1)<a+7 s:f(7)<l+3 h2:b(1)");
}

TEST_CASE("replace: a hand-over from a call that goes comes from the new call") {
  const TaskGraph g = graph("h:l1(1) s:k1(5)<l1 h:l2(1) s:k2(5)<l2 h2:b(1)<l1 h2:c(1)<l2");
  CHECK(replaced(g, {{tasks(g, {"k1", "k2"}), {{"f", 7}}}}) ==
        "h:l(2,1) s:f(7)<l+3 h2:b(1)<l h2:c(1)<l");
}

TEST_CASE("replace: tasks of one graph launch come from that launch again") {
  const TaskGraph g = graph("h:l(5) s:a(1)<l s:b(2)<l s:c(3)<l s:d(4)<l");
  CHECK(replaced(g, {{tasks(g, {"a", "b"}), {{"x", 1}}}, {tasks(g, {"c", "d"}), {{"y", 1}}}}) ==
        "h:l(5) s:x(1)<l s:y(1)<l");
}

TEST_CASE("replace: a late wait moves the place behind what is waited for") {
  // k2 waits for e, which is enqueued between them: the new kernel stands where k2 stood.
  const TaskGraph g =
      graph("h:l1(5,4) s:k1(10)<l1 h:l2(5) s2:e(50)<l2 h:l3(5,9) s:k2(20)<l3<e h:x(0)~s");
  CHECK(replaced(g, {{tasks(g, {"k1", "k2"}), {{"f", 7}}}}) ==
        "h:l2(5,4) s2:e(50)<l2 h:l(2,1) s:f(7)<l+3<e h:x(0)~f");
}

TEST_CASE("replace: who waits by a rule for an early member sees the new kernel behind him") {
  // m, on a third stream, waits for the tail of s as of its own place, which was k1.
  const TaskGraph g = graph(
      "h:l1(1) s:k1(10)<l1 h:l4(1) s3:m(5)<l4~s h2:y(1) s2:e(50)<y h:l2(1) s:k2(20)<l2~s2 "
      "h:x(0)~s");
  CHECK(is_refused(g, tasks(g, {"k1", "k2"})));  // m would come after k2, e before it
  const TaskGraph early = graph(
      "h2:y(1) s2:e(50)<y h:l1(1) s:k1(10)<l1 h:l4(1) s3:m(5)<l4~s h:l2(1) s:k2(20)<l2~s2 "
      "h:x(0)~s");
  CHECK(replaced(early, {{tasks(early, {"k1", "k2"}), {{"f", 7}}}}) ==
        "h2:y(1) s2:e(50)<y h:l(2,1) s:f(7)<l+3~e h:l4(1) s3:m(5)<l4~f h:x(0)~f");
}

TEST_CASE("replace: at the last place, a rule that no longer sees the kernel is made explicit") {
  const TaskGraph g =
      graph("h:l1(1) s:k1(10)<l1 h2:y(1) s2:r(1)<y h:l2(1) s:k2(20)<l2 s2:m(5)~s@r");
  CHECK(replaced(g, {{tasks(g, {"k1", "k2"}), {{"f", 7}}, Stands::last}}) ==
        "h2:y(1) s2:r(1)<y h:l(2,1) s:f(7)<l+3 s2:m(5)<f");
}

TEST_CASE("replace: work between members stays behind, and its waits hold up the whole group") {
  const TaskGraph g = graph(
      "h2:y(1) s2:e(50)<y h:l1(1) s:a1(10)<l1 h:l2(1) s:b1(9)<l2<e h:l3(1) s:a2(20)<l3 h:x(0)~s");
  // The stream made a2 wait for e through b1.
  CHECK(replaced(g, {{tasks(g, {"a1", "a2"}), {{"a", 7}}}}) ==
        "h2:y(1) s2:e(50)<y h:l(2,1) s:a(7)<l+3<e h:l2(1) s:b1(9)<l2<e h:x(0)~b1");
}

TEST_CASE("replace: neither a blocking call nor a loop of events can be fused over") {
  const TaskGraph read = graph("h:l1(1) s:k1(10)<l1 h:y(0)~s h:l2(1) s:k2(20)<l2");
  CHECK(is_refused(read, tasks(read, {"k1", "k2"})));
  const TaskGraph loop = graph("h:l1(1) s:k1(10)<l1 h:l2(1) s2:m(5)<l2<k1 h:l3(1) s:k2(20)<l3<m");
  CHECK(is_refused(loop, tasks(loop, {"k1", "k2"})));
  const TaskGraph streams = graph("h:l1(1) s:k1(10)<l1 h:l2(1) s2:k2(5)<l2");
  CHECK(is_refused(streams, tasks(streams, {"k1", "k2"})));
  const TaskGraph threads = graph("h:l1(1) s:k1(10)<l1 h2:l2(1)<l1 s:k2(5)<l2");
  CHECK(is_refused(threads, tasks(threads, {"k1", "k2"})));
}

TEST_CASE("cut: a group falls into pieces that can become one each") {
  const TaskGraph g = graph(
      "h:l1(1) s:k1(1)<l1 h:l2(1) s:k2(1)<l2 h:y(0)~s h:l3(1) s:k3(1)<l3 h:l4(1) s:k4(1)<l4 "
      "h:l5(1) s2:k5(1)<l5");
  const Editor editor(g);
  const auto pieces = editor.cut(tasks(g, {"k1", "k2", "k3", "k4", "k5"}));
  REQUIRE(pieces.size() == 3);
  CHECK(pieces[0] == tasks(g, {"k1", "k2"}));
  CHECK(pieces[1] == tasks(g, {"k3", "k4"}));
  CHECK(pieces[2] == tasks(g, {"k5"}));
}

TEST_CASE("replace: bounds of a new task are kept") {
  const TaskGraph g = graph("h:l(5) s:a(1)<l");
  Editor editor(g);
  auto with = work(editor, {{"x", 8}});
  with[0].trust = {Provenance::roofline, 0.5F, 1.5F};
  const auto result = editor.replace(tasks(g, {"a"}), with);
  REQUIRE(result.ok());
  const Committed c = test::committed(g, editor.change());
  const TaskId x = c.new_id[index((*result)[0].device)];
  CHECK(c.graph.provenance(x) == Provenance::roofline);
  CHECK(c.high[index(x)] == 1.5F);
}

TEST_CASE("replace: nothing for something, or a task in two groups, is an error") {
  const TaskGraph g = graph("h:l(5) s:a(1)<l s:b(1)");
  Editor editor(g);
  CHECK_FALSE(editor.replace(tasks(g, {"a"}), {}).ok());
  const auto with = work(editor, {{"x", 1}});
  REQUIRE(editor.replace(tasks(g, {"a"}), with).ok());
  CHECK(editor.replace(tasks(g, {"a"}), with).error().message ==
        "edit: tasks 1 to 1 cannot become one: an edit before has removed or replaced one of the "
        "tasks");
}

TEST_CASE("replace_calls: one call enqueues what several did, and hands over what they did") {
  const TaskGraph g = graph(
      "h2:a(9) h:l1(5,4)<a s:k1(10)<l1+2 h:l2(5,7) s2:k2(20)<l2+2<k1 h:l3(5) s:k3(9)<l3 "
      "h2:b(1)<l2");
  Editor editor(g);
  const auto call = editor.replace_calls(tasks(g, {"l1", "l2", "l3"}),
                                         {editor.add_work("graph", TaskKind::launch), 6, 1});
  REQUIRE_MESSAGE(call.ok(), call.error().message);
  CHECK(test::after(g, editor.change()) ==
        "h2:a(9) h:graph(6,5)<a s:k1(10)<graph+2 s2:k2(20)<graph+2<k1 s:k3(9)<graph h2:b(1)<graph");
}
