// Changes that cannot be committed: one line with the task and what is wrong.
#include <string>

#include <doctest/doctest.h>

#include "sim/edit/editor.h"
#include "sim/graph/change.h"
#include "tests/sim/graph/text_graph.h"

using namespace foretrace;
using test::graph;

namespace {

std::string refusal_of(const TaskGraph& before, const Change& change) {
  auto result = commit(before, change);
  REQUIRE_FALSE(result.ok());
  return result.error().message;
}

}  // namespace

TEST_CASE("commit: edits that contradict each other or name no task are errors") {
  const TaskGraph g = graph("h:a(1) s:k(9)<a s:m(5)");
  Change change;
  change.durations = {{TaskId{1}, 5}, {TaskId{1}, 6}};
  CHECK(refusal_of(g, change) == "duration edit: two different ones for kernel 'k' (task 1)");
  change.durations = {{TaskId{1}, 5}, {TaskId{1}, 5}};
  CHECK(commit(g, change).ok());
  change.durations = {{TaskId{7}, 5}};
  CHECK(refusal_of(g, change) ==
        "duration edit: task 7 does not exist, got 3 tasks and 0 inserted ones");
  change.durations = {{TaskId{1}, -5}};
  CHECK(refusal_of(g, change) ==
        "duration edit: kernel 'k' (task 1) gets -5 ns, expected at least 0");
  change.durations = {{TaskId{1}, 5}};
  change.removed = {{TaskId{1}}};
  CHECK(refusal_of(g, change) ==
        "duration edit: kernel 'k' (task 1) is removed by the same change");
  change = Change{};
  change.reordered = {{TaskId{1}, TaskId{2}}, {TaskId{2}, TaskId{1}}};
  CHECK(refusal_of(g, change) == "reordering: the anchors of some tasks form a circle");
  change = Change{};
  change.durations = {{TaskId{1}, std::int64_t{1} << 62}};
  CHECK(refusal_of(g, change) ==
        "durations, segments and lags add up to 4.61e+18 ns, expected at most 4e+18");
}

TEST_CASE("commit: a full queue is counted, nobody states one") {
  const TaskGraph g = graph("h:a(1) s:k(9)<a h:b(2)");
  const std::string expected =
      "kernel 'k' (task 1) waits for a full queue by itself: set the queue depth of the lane";
  Change change;
  change.new_dependencies = {{end_of(TaskId{0}), TaskId{1}, DependencyKind::queue}};
  CHECK(refusal_of(g, change) == expected);
  change = Change{};
  change.new_waits.push_back({.task = TaskId{1}, .at = TaskId{1}, .kind = DependencyKind::queue});
  CHECK(refusal_of(g, change) == expected);
}
