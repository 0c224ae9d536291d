#include "sim/edit/replace.h"

#include <doctest/doctest.h>

#include "tests/sim/edit/apply.h"

using namespace foretrace;
using test::graph;
using test::task;
using test::tasks;
using transform::Relations;
using transform::Replacement;

namespace {

std::string replaced(const TaskGraph& g, const std::vector<Replacement>& replacements) {
  Change change;
  auto result = transform::replace(change, g, Relations(g), replacements);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK(result->size() == replacements.size());
  return test::after(g, change);
}

}  // namespace

TEST_CASE("replace: kernels become one, with one call, and host time between calls stays") {
  const TaskGraph g = graph("h:l1(5,1) s:k1(10,2)<l1 h:l2(6,1) s:k2(20,3)<l2+4 h:x(1)~s");
  CHECK(replaced(g, {{tasks(g, {"k1", "k2"}), {{"fused", 25}}}}) ==
        "h:l2(6,2) s:fused(25,2)<l2+4 h:x(1)~fused");
}

TEST_CASE("replace: a sequence takes the place of a task") {
  const TaskGraph g = graph("h:l1(5) s:k1(10,2)<l1+4 h:x(1)~s s:z(3)");
  CHECK(replaced(g, {{tasks(g, {"k1"}), {{"a", 6}, {"b", 3}}, 8}}) ==
        "h:l1(5) s:a(6,2)<l1+4 h:l1(5,8) s:b(3,2)<l1+4 h:x(1)~b s:z(3)");
}

TEST_CASE("replace: new tasks inherit who waits for whom, across groups") {
  const TaskGraph g =
      graph("s2:e(9) h:l1(1) s:k1(10)<l1<e h:l2(1) s:k2(20)<l2 h:l3(1) s2:m(5)<l3<k2 s2:n(5)<k1");
  CHECK(replaced(g, {{tasks(g, {"k1", "k2"}), {{"f", 7}}}, {tasks(g, {"m"}), {{"q", 2}}}}) ==
        "s2:e(9) h:l2(1) s:f(7)<l2<e h:l3(1) s2:q(2)<l3<f s2:n(5)<f");
}

TEST_CASE("replace: a hand-over to a call that goes reaches the new call") {
  const TaskGraph g = graph("h:a(10) h2:l1(1)<a+7 s:k1(5)<l1 h2:l2(1) s:k2(5)<l2 h2:b(1)");
  CHECK(replaced(g, {{tasks(g, {"k1", "k2"}), {{"f", 7}}}}) ==
        "h:a(10) h2:l2(1)<a+7 s:f(7)<l2 h2:b(1)");
}

TEST_CASE("replace: tasks of one graph launch come from that launch again") {
  const TaskGraph g = graph("h:l(5) s:a(1)<l s:b(2)<l s:c(3)<l s:d(4)<l");
  CHECK(replaced(g, {{tasks(g, {"a", "b"}), {{"x", 1}}}, {tasks(g, {"c", "d"}), {{"y", 1}}}}) ==
        "h:l(5) s:x(1)<l s:y(1)<l");
}

TEST_CASE("replace: bounds of a new task are kept") {
  const TaskGraph g = graph("h:l(5) s:a(1)<l");
  Change change;
  const auto result = transform::replace(
      change, g, Relations(g),
      std::vector<Replacement>{{tasks(g, {"a"}), {{"x", 8, {Provenance::roofline, 0.5F, 1.5F}}}}});
  REQUIRE(result.ok());
  const Committed c = test::committed(g, change);
  const TaskId x = c.new_id[index((*result)[0][0])];
  CHECK(c.graph.provenance(x) == Provenance::roofline);
  CHECK(c.high[index(x)] == 1.5F);
}

TEST_CASE("replace: nothing for something, or a task in two groups, is an error") {
  const TaskGraph g = graph("h:l(5) s:a(1)<l s:b(1)");
  Change change;
  const Relations relations(g);
  CHECK_FALSE(
      transform::replace(change, g, relations, std::vector<Replacement>{{tasks(g, {"a"}), {}}})
          .ok());
  CHECK_FALSE(transform::replace(change, g, relations,
                                 std::vector<Replacement>{{tasks(g, {"a"}), {{"x", 1}}},
                                                          {tasks(g, {"a"}), {{"y", 1}}}})
                  .ok());
  CHECK(change.empty());
}
