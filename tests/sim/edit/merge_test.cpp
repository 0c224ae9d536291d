#include "sim/edit/merge.h"

#include <doctest/doctest.h>

#include "sim/edit/split.h"
#include "sim/engine/pull/pull.h"
#include "tests/sim/edit/apply.h"

using namespace foretrace;
using test::graph;
using test::task;
using test::tasks;
using transform::Merge;
using transform::Relations;

namespace {

std::string merged(const TaskGraph& g, const std::vector<Merge>& merges) {
  Change change;
  const Status status = transform::merge(change, g, Relations(g), merges);
  REQUIRE_MESSAGE(status.ok(), status.error().message);
  return test::after(g, change);
}

}  // namespace

TEST_CASE("merge: kernels become the last of them, launches go with the others") {
  const TaskGraph g =
      graph("h:l1(5,1) s:k1(10,2)<l1 h:l2(5,1) s:k2(20,3)<l2 h:l3(5,1) s:k3(7,4)<l3 h:x(1)~s");
  CHECK(merged(g, {{tasks(g, {"k1", "k2", "k3"})}}) == "h:l3(5,3) s:k3(37,2)<l3 h:x(1)~k3");
  // A given duration replaces the sum.
  CHECK(merged(g, {{tasks(g, {"k1", "k2"}), 12}}) ==
        "h:l2(5,2) s:k2(12,2)<l2 h:l3(5,1) s:k3(7,4)<l3 h:x(1)~k3");
}

TEST_CASE("merge: what one of them waited for, and who waited for one of them, stays tied") {
  const TaskGraph g = graph(
      "h:l0(1) s2:e(50)<l0 h:l1(1) s:k1(10)<l1<e h:l2(1) s:k2(20)<l2 h:l3(1) s3:m(5)<l3<k1+2");
  CHECK(merged(g, {{tasks(g, {"k1", "k2"})}}) ==
        "h:l0(1) s2:e(50)<l0 h:l2(1) s:k2(30)<l2<e h:l3(1) s3:m(5)<l3<k2+2");
}

TEST_CASE("merge: a dependency on the start of a part is one on the merged start, later") {
  const TaskGraph g = graph("s:a(10) s:b(20) s2:m(5)<^b*0.5+3 s2:n(5)<^a+1");
  // b began 10 after a; half of b is another 10.
  CHECK(merged(g, {{tasks(g, {"a", "b"})}}) == "s:b(30) s2:m(5)<^b+23 s2:n(5)<^b+1");
}

TEST_CASE("merge: groups that depend on each other merge in one call") {
  const TaskGraph g = graph("s:a(1) s:b(2) s2:c(4)<a s2:d(8)<b s:e(16)<d");
  CHECK(merged(g, {{tasks(g, {"a", "b"})}, {tasks(g, {"c", "d"})}}) ==
        "s:b(3) s2:d(12)<b s:e(16)<d");
}

TEST_CASE("merge: waits of a part become waits of the whole") {
  const TaskGraph g = graph("s2:e(50) s:a(10)~s2 s2:f(9) s:b(20)");
  CHECK(merged(g, {{tasks(g, {"a", "b"})}}) == "s2:e(50) s2:f(9) s:b(30)~e");
}

TEST_CASE("merge: host tasks keep the host time between them") {
  const TaskGraph g = graph("h:a(1,10) h:b(2,20) h:c(4,40) h:d(8)");
  CHECK(merged(g, {{tasks(g, {"a", "b", "c"})}}) == "h:c(7,70) h:d(8)");
}

TEST_CASE("merge: a path out of the group and back is a cycle that commit names") {
  const TaskGraph g = graph("s:a(1) s2:m(5)<a s:b(2)<m");
  Change change;
  REQUIRE(
      transform::merge(change, g, Relations(g), std::vector<Merge>{{tasks(g, {"a", "b"})}}).ok());
  auto result = commit(g, change);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().message ==
        "dependency cycle: kernel 'b' (task 1) -> kernel 'm' (task 0) -> kernel 'b' (task 1)");
}

TEST_CASE("merge: tasks of two lanes or of two groups are an error") {
  const TaskGraph g = graph("s:a(1) s2:b(2) s:c(1)");
  Change change;
  CHECK(transform::merge(change, g, Relations(g), std::vector<Merge>{{tasks(g, {"a", "b"})}})
            .error()
            .message == "merge: tasks 0 and 1 are on two lanes, 's' and 's2'");
  CHECK_FALSE(transform::merge(change, g, Relations(g),
                               std::vector<Merge>{{tasks(g, {"a", "c"})}, {tasks(g, {"c"})}})
                  .ok());
  CHECK(change.empty());
}

TEST_CASE("split: parts add up, the last one is what others wait for") {
  const TaskGraph g = graph("h:l(1) s:k(32,3)<l+2 s2:m(5)<k+1 s2:n(5)<^k*0.5 h:x(0)~s");
  Change change;
  const auto parts = transform::split(change, g, Relations(g), task(g, "k"), {.parts = 3});
  REQUIRE(parts.ok());
  CHECK(parts->size() == 3);
  CHECK(test::after(g, change) ==
        "h:l(1) s:k(11,3)<l+2 s:k(11)<l+2 s:k(10)<l+2 s2:m(5)<k+1 s2:n(5)<^k+16 h:x(0)~k");
  const TaskGraph after = test::committed(g, change).graph;
  CHECK(after.topology().sources[4][cause_slot] == end_of(TaskId{3}));
  CHECK(simulate(after).span_ns == simulate(g).span_ns);
}

TEST_CASE("split: each part may have a call of its own") {
  const TaskGraph g = graph("h:l(1) s:k(30)<l+2 h:x(1)");
  Change change;
  REQUIRE(transform::split(change, g, Relations(g), task(g, "k"),
                           {.parts = 2, .gap_ns = 1, .launch = transform::SplitLaunch{4, 9}})
              .ok());
  CHECK(test::after(g, change) == "h:l(1) s:k(15)<l+2 h:l(4,9) s:k(15,1)<l+2 h:x(1)");
}

TEST_CASE("split: no parts or more parts than ns are an error") {
  const TaskGraph g = graph("s:k(3)");
  Change change;
  CHECK_FALSE(transform::split(change, g, Relations(g), TaskId{0}, {.parts = 0}).ok());
  CHECK(transform::split(change, g, Relations(g), TaskId{0}, {.parts = 4}).error().message ==
        "split: got 4 parts for a task of 3 ns, expected 1 to 3");
  CHECK(transform::split(change, g, Relations(g), TaskId{0}, {.parts = 1})->size() == 1);
  CHECK(change.empty());
}
