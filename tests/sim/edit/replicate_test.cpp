#include "sim/edit/replicate.h"

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "tests/sim/edit/apply.h"

using namespace foretrace;
using test::graph;
using test::tasks;
using transform::Onto;

namespace {

const char* const text = "h:z(1) h:a(2) s:k(9)<a h:b(3)~s h:c(1)<k:data";

TaskGraph replicated(const TaskGraph& g, std::size_t copies, Onto onto) {
  Change change;
  const auto result = transform::replicate(change, g, tasks(g, {"a", "k", "b"}), copies, onto);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK(result->tasks.size() == copies);
  return test::committed(g, change).graph;
}

}  // namespace

TEST_CASE("replicate: copies on the same lanes follow the original, outsiders keep to it") {
  CHECK(test::to_text(replicated(graph(text), 2, Onto::same_lanes)) ==
        "h:z(1) h:a(2) s:k(9)<a h:b(3)~k h:a(2) s:k(9)<a h:b(3)~k h:a(2) s:k(9)<a h:b(3)~k "
        "h:c(1)<k");
}

TEST_CASE("replicate: copies on new lanes run beside the original") {
  const TaskGraph g = graph(text);
  const TaskGraph after = replicated(g, 1, Onto::new_lanes);
  CHECK(test::to_text(after) ==
        "h:z(1) h:a(2) h (copy 1):a(2) s:k(9)<a s (copy 1):k(9)<a h:b(3)~k h (copy 1):b(3)~k "
        "h:c(1)<k");
  CHECK(simulate(after).span_ns == simulate(g).span_ns);
}

TEST_CASE("replicate: new ranks are classes of their own and see nothing of the others") {
  const TaskGraph g = graph("h:z(1) h:a(2)<z s2:e(4) s:k(9)<a<e~s2 h:b(3)~*");
  const TaskGraph after = replicated(g, 2, Onto::new_ranks);
  REQUIRE(after.context().rank_classes.size() == 3);
  CHECK(after.context().rank_classes[2].first_rank == 2);
  for (std::size_t t = 0; t < after.size(); ++t) {
    for (const Dependency& d : dependencies_of(after, make_id<TaskId>(t))) {
      CHECK(after.lane(d.task).rank == after.lane(task_of(d.source)).rank);
    }
  }
}

TEST_CASE("replicate: no copies or no tasks change nothing, an unknown task is an error") {
  const TaskGraph g = graph(text);
  Change change;
  CHECK(transform::replicate(change, g, tasks(g, {"a"}), 0, Onto::same_lanes)->tasks.empty());
  CHECK(transform::replicate(change, g, {}, 3, Onto::same_lanes).ok());
  CHECK_FALSE(
      transform::replicate(change, g, std::vector<TaskId>{TaskId{99}}, 1, Onto::new_lanes).ok());
  CHECK(change.empty());
}
