// Laws of edits over random graphs with fixed seeds: what must hold whatever the change is.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "sim/graph/links.h"
#include "sim/graph/validate.h"
#include "tests/sim/edit/law_oracle.h"
#include "tests/sim/graph/random_change.h"
#include "tests/sim/graph/scaled.h"

using namespace foretrace;
using test::Choices;
using test::random_graph;
using test::RandomGraphTraits;

namespace {

constexpr std::uint64_t graphs = 300;

/// No condition on times and nothing that shifts entries of a queue when work is cut in pieces.
constexpr RandomGraphTraits monotone{120, false, true, false};

Committed committed(const TaskGraph& graph, const Change& change) {
  auto result = commit(graph, change);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  const Status valid = validate(result->graph);
  REQUIRE_MESSAGE(valid.ok(), valid.error().message);
  return std::move(result).value();
}

/// Same tasks, same sources, same weights.
void check_identical(const TaskGraph& a, const TaskGraph& b) {
  CHECK(a.topology().sources == b.topology().sources);
  CHECK(a.topology().kinds == b.topology().kinds);
  CHECK(a.topology().forward == b.topology().forward);
  CHECK(a.topology().launch_order_fixed == b.topology().launch_order_fixed);
  CHECK(a.columns().lane == b.columns().lane);
  CHECK(a.columns().work == b.columns().work);
  CHECK(a.columns().step == b.columns().step);
  CHECK(*a.weights().duration_ns == *b.weights().duration_ns);
  CHECK(*a.weights().segment_ns == *b.weights().segment_ns);
  CHECK(*a.weights().lag_ns == *b.weights().lag_ns);
  CHECK(*a.weights().overflow_lag_ns == *b.weights().overflow_lag_ns);
}

TaskId any_task(Choices& choices, const TaskGraph& graph) {
  return make_id<TaskId>(choices.below(static_cast<std::uint32_t>(graph.size())));
}

}  // namespace

TEST_CASE("law: an empty change and a rebuild without a change give the identical graph") {
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CAPTURE(seed);
    Choices choices(seed);
    const TaskGraph graph = random_graph(choices);
    CHECK(committed(graph, Change{}).graph.shared_topology() == graph.shared_topology());
    Change same;
    same.queues.push_back({LaneId{0}, graph.context().lanes[0].queue_depth});
    const Committed rebuilt = committed(graph, same);
    check_identical(rebuilt.graph, graph);
    for (std::size_t t = 0; t < graph.size(); ++t) CHECK(rebuilt.new_id[t] == make_id<TaskId>(t));
  }
}

TEST_CASE("law: whatever commit accepts is valid, runs, and keeps the order of every lane") {
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 10 * graphs; ++seed) {
    CAPTURE(seed);
    Choices choices(seed);
    const TaskGraph graph = random_graph(choices);
    const auto change = test::random_change(choices, graph);
    if (!change) continue;
    auto result = commit(graph, *change);
    if (!result) {
      ++refused;
      CHECK_FALSE(result.error().message.empty());
      continue;
    }
    ++accepted;
    const Status valid = validate(result->graph);
    REQUIRE_MESSAGE(valid.ok(), valid.error().message);
    const Timeline timeline = simulate(result->graph);
    for (std::size_t t = 0; t < result->graph.size(); ++t) {
      const Point before = result->graph.topology().sources[t][lane_slot];
      if (before == no_point) continue;
      CHECK(timeline.start_ns(make_id<TaskId>(t)) >= timeline.end_ns(task_of(before)));
    }
  }
  // Changes that make no sense are part of it, but most of them do.
  CHECK(accepted > 4 * refused);
}

TEST_CASE(
    "law: removing work with its calls never lengthens the run, and keeps the others' order") {
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CAPTURE(seed);
    Choices choices(seed);
    const TaskGraph graph = random_graph(choices, monotone);
    if (graph.size() == 0) continue;
    std::vector<TaskId> tasks;
    const std::uint32_t one_in = 1 + choices.below(12);
    for (std::size_t t = 0; t < graph.size(); ++t) {
      if (choices.one_in(one_in)) tasks.push_back(make_id<TaskId>(t));
    }
    // All that a call enqueues, or nothing: an entry leaves its queue when its first task starts,
    // so that taking only the first of several can hold the host back.
    for (std::size_t i = 0, named = tasks.size(); i < named; ++i) {
      const TaskId launch = launch_of(graph, tasks[i]);
      if (launch != none<TaskId>) tasks.push_back(launch);
    }
    Editor editor(graph);
    const SegmentOf segment = choices.one_in(2) ? SegmentOf::keep : SegmentOf::take;
    editor.remove(tasks, {segment, segment});
    const Committed after = committed(graph, editor.change());
    TaskId last = none<TaskId>;
    for (const TaskId id : after.new_id) {
      if (id == none<TaskId>) continue;
      CHECK((last == none<TaskId> || last < id));
      last = id;
    }
    const Timeline before = simulate(graph);
    const Timeline now = simulate(after.graph);
    for (std::size_t t = 0; t < graph.size(); ++t) {
      const TaskId id = after.new_id[t];
      if (id != none<TaskId>) CHECK(now.start_ns(id) <= before.start_ns(make_id<TaskId>(t)));
    }
  }
}

TEST_CASE("law: times that are all c times as long make a run that is c times as long") {
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CAPTURE(seed);
    Choices choices(seed);
    const TaskGraph graph = random_graph(choices);
    const Timeline before = simulate(graph);
    const Timeline after = simulate(graph.with_weights(test::scale_everything(graph, 3)));
    CHECK(after.span_ns == 3 * before.span_ns);
    for (std::size_t i = 0; i < before.points.size(); ++i) {
      CHECK(after.points[i] == 3 * before.points[i]);
    }
  }
}

TEST_CASE("law: with the order held fixed, a shorter task never lengthens the run") {
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CAPTURE(seed);
    Choices choices(seed);
    const TaskGraph graph = random_graph(choices, monotone);
    if (graph.size() == 0) continue;
    const std::int64_t span_ns = simulate(graph).span_ns;
    for (int i = 0; i < 20; ++i) {
      const TaskId task = any_task(choices, graph);
      Editor editor(graph);
      REQUIRE(editor.scale(std::vector<TaskId>{task}, 0.5).ok());
      CHECK(simulate(committed(graph, editor.change()).graph).span_ns <= span_ns);
    }
  }
}

TEST_CASE("law: cutting a kernel in parts and merging the parts changes no time") {
  std::size_t tried = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CAPTURE(seed);
    Choices choices(seed);
    const TaskGraph graph = random_graph(choices, monotone);
    if (graph.size() == 0) continue;
    const TaskId task = any_task(choices, graph);
    const std::size_t parts = 2 + choices.below(4);
    const bool half = graph.work(task).part != TaskPart::whole;
    if (half || !is_device(graph.kind(task)) || graph.duration_ns(task) < 10) continue;
    ++tried;
    Editor split(graph);
    const auto ids = split.split(task, {.parts = parts});
    REQUIRE(ids.ok());
    const Committed in_parts = committed(graph, split.change());
    const Timeline before = simulate(graph);
    const Timeline middle = simulate(in_parts.graph);
    CHECK(middle.span_ns == before.span_ns);

    std::vector<TaskId> group;
    for (const TaskId id : *ids) group.push_back(in_parts.new_id[index(id)]);
    Editor back(in_parts.graph);
    const auto merged = back.merge(group);
    REQUIRE_MESSAGE(merged.ok(), merged.error().message);
    const Committed whole = committed(in_parts.graph, back.change());
    CHECK(whole.graph.size() == graph.size());
    const Timeline after = simulate(whole.graph);
    CHECK(after.span_ns == before.span_ns);
    for (std::size_t t = 0; t < graph.size(); ++t) {
      const auto old = make_id<TaskId>(t);
      const TaskId part = in_parts.new_id[index(old == task ? ids->back() : old)];
      CHECK(after.end_ns(whole.new_id[index(part)]) == before.end_ns(old));
    }
  }
  CHECK(tried > graphs / 4);
}

TEST_CASE("law: whatever edits take the place of tasks, waiting stays, on paths and in time") {
  // Dependencies that count only if late, and lags below zero, promise no time.
  constexpr RandomGraphTraits plain{48, false, false, true};
  std::size_t replaced = 0;
  std::size_t removed = 0;
  test::Examined examined;
  for (std::uint64_t seed = 0; seed < 10000; ++seed) {
    CAPTURE(seed);
    Choices choices(seed);
    const TaskGraph graph = random_graph(choices, seed % 2 == 0 ? plain : RandomGraphTraits{48});
    const auto change = test::random_change(choices, graph, test::RandomEdits::lawful);
    REQUIRE_MESSAGE(change.ok(), change.error().message);
    const auto after = commit(graph, *change, Checks::none);
    REQUIRE_MESSAGE(after.ok(), after.error().message);
    const test::LawOracle oracle(graph, *change, *after);
    const std::string path = oracle.broken_path();
    REQUIRE_MESSAGE(path.empty(), path);
    examined += oracle.examined();
    if (seed % 2 == 0) {
      const std::string time = oracle.broken_time();
      REQUIRE_MESSAGE(time.empty(), time);
    }
    // What commit() itself finds in builds with assertions.
    const Status laws = check_laws(graph, *change, *after);
    REQUIRE_MESSAGE(laws.ok(), laws.error().message);
    for (const StandIn& group : change->stand_ins) replaced += group.members.size() > 1 ? 1 : 0;
    removed += change->removed.size();
  }
  CHECK(replaced > 3000);
  CHECK(removed > 20000);
  // None of what a graph may hold was left out.
  CHECK(examined.into_groups > 1000);
  CHECK(examined.out_of_groups > 1000);
  CHECK(examined.through_removed > 1000);
  CHECK(examined.recorded_waits > 1000);
  CHECK(examined.inferred_waits > 1000);
  CHECK(examined.hand_overs > 1000);
  CHECK(examined.meetings > 1000);
  CHECK(examined.across_ranks > 1000);
  CHECK(examined.stream_places > 1000);
}
