#include <doctest/doctest.h>

#include "sim/edit/editor.h"
#include "sim/engine/pull/pull.h"
#include "tests/sim/edit/apply.h"

using namespace foretrace;
using test::graph;
using test::tasks;

namespace {

std::string merged(const TaskGraph& g, const std::vector<std::vector<TaskId>>& groups,
                   const MergeOptions& options = {}) {
  Editor editor(g);
  for (const std::vector<TaskId>& group : groups) {
    const auto stays = editor.merge(group, options);
    REQUIRE_MESSAGE(stays.ok(), stays.error().message);
  }
  return test::after(g, editor.change());
}

std::string refusal(const TaskGraph& g, const std::vector<TaskId>& group) {
  Editor editor(g);
  const auto stays = editor.merge(group);
  REQUIRE_FALSE(stays.ok());
  CHECK(editor.change().empty());
  return stays.error().message;
}

}  // namespace

TEST_CASE("merge: kernels become the last of them, launches go with the others") {
  const TaskGraph g =
      graph("h:l1(5,1) s:k1(10,2)<l1 h:l2(5,1) s:k2(20,3)<l2 h:l3(5,1) s:k3(7,4)<l3 h:x(1)~s");
  CHECK(merged(g, {tasks(g, {"k1", "k2", "k3"})}) == "h:l3(5,3) s:k3(37,2)<l3 h:x(1)~k3");
  // A given duration replaces the sum.
  CHECK(merged(g, {tasks(g, {"k1", "k2"})}, {.duration_ns = 12}) ==
        "h:l2(5,2) s:k2(12,2)<l2 h:l3(5,1) s:k3(7,4)<l3 h:x(1)~k3");
}

TEST_CASE("merge: what one of them waited for, and who waited for one of them, stays tied") {
  const TaskGraph g = graph(
      "h:l0(1) s2:e(50)<l0 h:l1(1) s:k1(10)<l1<e h:l2(1) s:k2(20)<l2 h:l3(1) s3:m(5)<l3<k1+2");
  CHECK(merged(g, {tasks(g, {"k1", "k2"})}) ==
        "h:l0(1) s2:e(50)<l0 h:l2(1) s:k2(30)<l2<e h:l3(1) s3:m(5)<l3<k2+2");
}

TEST_CASE("merge: a dependency on the start of a part is one on the merged start, later") {
  const TaskGraph g = graph("s:a(10) s:b(20) s2:m(5)<^b*0.5+3 s2:n(5)<^a+1");
  // b began 10 after a; half of b is another 10.
  CHECK(merged(g, {tasks(g, {"a", "b"})}) == "s:b(30) s2:m(5)<^b+23 s2:n(5)<^b+1");
  // But never beyond the end of what is left: m may start when that has ended, 3 later.
  CHECK(merged(g, {tasks(g, {"a", "b"})}, {.duration_ns = 12}) ==
        "s:b(12) s2:m(5)<^b+15 s2:n(5)<^b+1");
}

TEST_CASE("merge: groups that depend on each other merge in one change, in either order") {
  const TaskGraph g = graph("s:a(1) s:b(2) s2:c(4)<a s2:d(8)<b s:e(16)<d");
  const std::string after = "s:b(3) s2:d(12)<b s:e(16)<d";
  CHECK(merged(g, {tasks(g, {"a", "b"}), tasks(g, {"c", "d"})}) == after);
  CHECK(merged(g, {tasks(g, {"c", "d"}), tasks(g, {"a", "b"})}) == after);
}

TEST_CASE("merge: waits of a part become waits of the whole") {
  const TaskGraph g = graph("s2:e(50) s:a(10)~s2 s2:f(9) s:b(20)");
  CHECK(merged(g, {tasks(g, {"a", "b"})}) == "s2:e(50) s2:f(9) s:b(30)~e");
}

TEST_CASE("merge: where somebody between them waits for a part, the place before him is taken") {
  // m is enqueued between a and b, and its rule means a: it has to see the merged kernel.
  const TaskGraph g = graph("h:l1(1) s:a(10)<l1 h:l2(1) s2:m(5)<l2~s h:l3(1) s:b(20)<l3 h:x(0)~s2");
  CHECK(merged(g, {tasks(g, {"a", "b"})}) == "h:l1(1) s:a(30)<l1 h:l2(1) s2:m(5)<l2~a h:x(0)~m");
}

TEST_CASE("merge: host tasks keep the host time between them") {
  const TaskGraph g = graph("h:a(1,10) h:b(2,20) h:c(4,40) h:d(8)");
  CHECK(merged(g, {tasks(g, {"a", "b", "c"})}) == "h:c(7,70) h:d(8)");
}

TEST_CASE("merge: tasks with a path out of the group and back are refused") {
  const TaskGraph g = graph("s:a(1) s2:m(5)<a s:b(2)<m");
  CHECK(refusal(g, tasks(g, {"a", "b"})) ==
        "edit: tasks 0 to 2 cannot become one: a wait lies between the tasks, and something that "
        "waits for one of them before it");
  // The host reads a before it launches b.
  const TaskGraph read = graph("h:l1(1) s:a(10)<l1 h:y(0)~s h:l2(1) s:b(20)<l2");
  refusal(read, tasks(read, {"a", "b"}));
}

TEST_CASE("merge: tasks of two lanes or of two groups are an error") {
  const TaskGraph g = graph("s:a(1) s2:b(2) s:c(1)");
  CHECK(refusal(g, tasks(g, {"a", "b"})) ==
        "edit: tasks 0 to 1 cannot become one: the tasks are on two streams");
  CHECK(refusal(g, {}) == "edit: a group without tasks");
  CHECK(refusal(g, tasks(g, {"c", "a"})) ==
        "edit: tasks 2 to 0 cannot become one: the tasks are not in program order");
  Editor editor(g);
  REQUIRE(editor.merge(tasks(g, {"a", "c"})).ok());
  CHECK_FALSE(editor.merge(tasks(g, {"c"})).ok());
}
