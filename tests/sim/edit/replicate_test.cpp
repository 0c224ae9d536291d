#include <doctest/doctest.h>

#include "sim/edit/editor.h"
#include "sim/engine/pull/pull.h"
#include "sim/graph/links.h"
#include "tests/sim/edit/apply.h"

using namespace foretrace;
using test::graph;
using test::tasks;

namespace {

const char* const text = "h:z(1) h:a(2) s:k(9)<a h:b(3)~s h:c(1)<k:data";

TaskGraph replicated(const TaskGraph& g, std::size_t copies, Onto onto) {
  Editor editor(g);
  const auto result = editor.replicate(tasks(g, {"a", "k", "b"}), copies, onto);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK(result->tasks.size() == copies);
  return test::committed(g, editor.change()).graph;
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
    for (const Link& d : sources(after, make_id<TaskId>(t))) {
      CHECK(after.lane(d.task).rank == after.lane(task_of(d.source)).rank);
    }
  }
}

TEST_CASE("replicate: no copies or no tasks change nothing, an unknown task is an error") {
  const TaskGraph g = graph(text);
  Editor editor(g);
  CHECK(editor.replicate(tasks(g, {"a"}), 0, Onto::same_lanes)->tasks.empty());
  CHECK(editor.replicate({}, 3, Onto::same_lanes).ok());
  CHECK_FALSE(editor.replicate(std::vector<TaskId>{TaskId{99}}, 1, Onto::new_lanes).ok());
  CHECK(editor.change().empty());
}
