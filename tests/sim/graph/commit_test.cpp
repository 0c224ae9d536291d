#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "sim/edit/editor.h"
#include "sim/engine/pull/pull.h"
#include "sim/graph/change.h"
#include "sim/graph/validate.h"
#include "tests/sim/graph/text_graph.h"

using namespace foretrace;
using test::graph;
using test::task;
using test::to_text;

namespace {

Committed committed(const TaskGraph& before, const Change& change) {
  auto result = commit(before, change);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  const Status valid = validate(result->graph);
  REQUIRE_MESSAGE(valid.ok(), valid.error().message);
  return std::move(result).value();
}

std::string error_of(const TaskGraph& before, const Change& change) {
  auto result = commit(before, change);
  REQUIRE_FALSE(result.ok());
  return result.error().message;
}

/// A change that removes these tasks.
Change removal(const TaskGraph& g, std::initializer_list<const char*> names,
               SegmentOf segment = SegmentOf::keep) {
  Change change;
  for (const char* name : names) change.removed.push_back({task(g, name), segment});
  return change;
}

TaskSpec spec(const TaskGraph& g, const char* like, std::int64_t duration) {
  const TaskId t = task(g, like);
  return {g.lane_id(t), g.work_id(t), g.kind(t), duration};
}

}  // namespace

TEST_CASE("commit: an empty change gives the same graph and shares everything") {
  const TaskGraph g = graph("h:l(5) s:k(20)<l");
  CHECK(Change{}.empty());
  const Committed c = committed(g, Change{});
  CHECK(&c.graph.topology() == &g.topology());
  CHECK(&c.graph.columns() == &g.columns());
  CHECK(c.graph.weights().duration_ns == g.weights().duration_ns);
  CHECK(c.new_id.empty());
  CHECK(c.low.empty());
}

TEST_CASE("commit: a successor takes the place of the whole graph") {
  const TaskGraph g = graph("h:l(5) s:k(20)<l");
  Change change;
  change.successor = std::make_shared<const Successor>(
      Successor{graph("h:a(1) s:b(2)<a h:c(3)"), {1, 0.5F, 1}, {1, 1, 1}});
  CHECK((change.changes_topology() && !change.empty()));
  CHECK(change.tasks_changed(g) == 3);
  const Committed c = committed(g, change);
  CHECK(to_text(c.graph) == "h:a(1) s:b(2)<a h:c(3)");
  CHECK(c.new_id == std::vector<TaskId>(2, none<TaskId>));
  CHECK(c.low == std::vector<float>{1, 0.5F, 1});
  CHECK(c.high.empty());
}

TEST_CASE("change: each changed task counts once, whatever is said of it") {
  const TaskGraph g = graph("h:l(5,1) s:k(20)<l+2 h:m(5) s2:n(30)<m<k s2:o(9)<m");
  const TaskId k = task(g, "k");
  const TaskId n = task(g, "n");
  const auto x = make_id<TaskId>(g.size());
  Change change;
  change.durations.push_back({k, 20, Provenance::measured, 0.5F, 2.0F});
  CHECK(change.tasks_changed(g) == 0);  // its time stays and gets a range
  change.moved.push_back({k, g.lane_id(n)});
  CHECK(change.tasks_changed(g) == 1);  // yet it moves
  change.inserted.push_back({TaskSpec{}, n, Place::before});
  change.durations.push_back({x, 7, Provenance::assumed});
  change.lags.push_back({x, DependencyKind::launch, 3});
  CHECK(change.tasks_changed(g) == 2);
  change.durations.push_back({n, 10, Provenance::scaled});
  change.segments.push_back({task(g, "l"), 4});
  change.lags.push_back({n, DependencyKind::launch, 3});
  CHECK(change.tasks_changed(g) == 4);  // k, x, n and l
}

TEST_CASE("commit: a work that is said anew is there afterwards, and nothing else changes") {
  const TaskGraph g = graph("h:l(5,1) s:k(20)<l+2 s:m(10) s2:n(30)<k");
  const TaskId k = task(g, "k");
  Editor editor(g);
  Work half = g.work(k);
  half.precision = Precision::bf16;
  editor.describe(k, editor.add_work(half));
  CHECK_FALSE(editor.change().changes_topology());
  CHECK_FALSE(editor.change().empty());
  CHECK(editor.change().tasks_changed(g) == 0);
  Editor moving = editor;  // by way of another graph
  moving.remove(std::vector{task(g, "m")});
  for (const bool moves : {false, true}) {
    CAPTURE(moves);
    const Committed c = committed(g, moves ? moving.change() : editor.change());
    const Work& now = c.graph.work(task(c.graph, "k"));
    CHECK(now.precision == Precision::bf16);
    CHECK(c.graph.names()[now.name] == "k");
    CHECK(c.graph.work(task(c.graph, "n")).precision == Precision::unknown);
    CHECK(c.graph.duration_ns(task(c.graph, "k")) == 20);
    CHECK((c.graph.shared_topology() == g.shared_topology()) == !moves);
  }

  SUBCASE("of another kind it is refused, as are two for one task and a work that is not there") {
    Editor wrong(g);
    SUBCASE("kind") { wrong.describe(k, wrong.add_work("h", TaskKind::host)); }
    SUBCASE("two") {
      wrong.describe(k, wrong.add_work(half));
      wrong.describe(k, wrong.add_work(half, "other"));
    }
    SUBCASE("none") { wrong.describe(k, make_id<WorkId>(99)); }
    CHECK_FALSE(commit(g, wrong.finish()).ok());
  }
}

TEST_CASE("commit: what keeps its time keeps its origin, unless a range is claimed for it") {
  const TaskGraph g = graph("h:l(5,1) s:k(20)<l+2 s:m(10)");
  const TaskId l = task(g, "l");
  const TaskId k = task(g, "k");
  Change change;
  change.durations.push_back({k, 20, Provenance::scaled});
  change.segments.push_back({l, 1, Provenance::assumed});
  change.lags.push_back({k, DependencyKind::launch, 2});
  CHECK(change.tasks_changed(g) == 0);
  Change moving = change;  // by way of another graph
  moving.removed.push_back({task(g, "m"), SegmentOf::keep});
  for (const Change& one : {change, moving}) {
    const Committed c = committed(g, one);
    CHECK(c.graph.provenance(task(c.graph, "l")) == Provenance::measured);
    CHECK(c.graph.provenance(task(c.graph, "k")) == Provenance::measured);
  }
  change.durations.front().high = 1.5F;
  CHECK(change.tasks_changed(g) == 0);
  CHECK(committed(g, change).graph.provenance(k) == Provenance::scaled);
}

TEST_CASE("commit: durations alone share topology, segments and lags") {
  const TaskGraph g = graph("h:l(5,1) s:k(20)<l+2 s:m(10)");
  Change change;
  change.durations.push_back({task(g, "k"), 8, Provenance::scaled, 0.5F, 2.0F});
  CHECK_FALSE(change.changes_topology());
  CHECK(change.tasks_changed(g) == 1);
  const Committed c = committed(g, change);
  CHECK(to_text(c.graph) == "h:l(5,1) s:k(8)<l+2 s:m(10)");
  CHECK(&c.graph.topology() == &g.topology());
  CHECK(c.graph.weights().segment_ns == g.weights().segment_ns);
  CHECK(c.graph.weights().lag_ns == g.weights().lag_ns);
  CHECK(c.graph.provenance(task(g, "k")) == Provenance::scaled);
  CHECK(c.graph.provenance(task(g, "m")) == Provenance::measured);
  CHECK(c.low == std::vector<float>{1.0F, 0.5F, 1.0F});
  CHECK(c.high == std::vector<float>{1.0F, 2.0F, 1.0F});
  CHECK(g.duration_ns(task(g, "k")) == 20);  // the old graph is as it was
}

TEST_CASE("commit: lags change in place where they fit, and in the overflow list") {
  const TaskGraph g = graph("h:a(1) h:l(5) s:k(20)<l+2<a+9?l");
  Change change;
  change.lags.push_back({task(g, "k"), DependencyKind::launch, 7});
  const Committed c = committed(g, change);
  CHECK(to_text(c.graph) == "h:a(1) h:l(5) s:k(20)<l+7<a+7?l");
  CHECK(&c.graph.topology() == &g.topology());
  // 2^32 ns do not fit a slot: the dependency moves to the overflow list.
  change.lags[0].lag_ns = std::int64_t{1} << 32;
  const Committed big = committed(g, change);
  CHECK(big.graph.topology().overflow.size() == 2);
  CHECK(simulate(big.graph).start_ns(task(g, "k")) == (std::int64_t{1} << 32) + 6);
}

TEST_CASE("commit: the lag of a wait outlives the next rebuild") {
  const TaskGraph g = graph("h:l(1) s:k(9)<l h:x(1)~s+4 h:y(1)");
  Change lag;
  lag.lags.push_back({task(g, "x"), DependencyKind::synchronization, 6});
  const Committed first = committed(g, lag);
  CHECK(to_text(first.graph) == "h:l(1) s:k(9)<l h:x(1)~k+6 h:y(1)");
  const Committed second = committed(first.graph, removal(first.graph, {"y"}));
  CHECK(to_text(second.graph) == "h:l(1) s:k(9)<l h:x(1)~k+6");
}

TEST_CASE("commit: the lag of a wait that means nothing yet is kept for when it does") {
  const TaskGraph g = graph("h:a(1) s:e(1)<a h:x(0)~s2+1 h:l(1) s2:k(9)<l");
  Change lag;
  lag.lags.push_back({task(g, "x"), DependencyKind::synchronization, 6});
  const Committed first = committed(g, lag);
  CHECK(first.new_id.empty());  // weights only
  // Now there is something on s2 before x.
  Change more;
  more.inserted.push_back({spec(g, "k", 30), task(g, "a"), Place::after});
  CHECK(to_text(committed(first.graph, more).graph) ==
        "h:a(1) s2:k(30) s:e(1)<a h:x(0)~k+6 h:l(1) s2:k(9)<l");
}

TEST_CASE("commit: a removed host call leaves its segment to its successor, or takes it along") {
  const TaskGraph g = graph("h:a(10,1) h:b(20,2) h:c(30,4)");
  CHECK(to_text(committed(g, removal(g, {"b"})).graph) == "h:a(10,1) h:c(30,6)");
  CHECK(to_text(committed(g, removal(g, {"b"}, SegmentOf::take)).graph) == "h:a(10,1) h:c(30,4)");
  CHECK(to_text(committed(g, removal(g, {"a", "b"})).graph) == "h:c(30,7)");
  const Committed c = committed(g, removal(g, {"b"}));
  CHECK(c.new_id == std::vector<TaskId>{TaskId{0}, none<TaskId>, TaskId{1}});
}

TEST_CASE("commit: the gap before a removed kernel goes with it, the time before the first stays") {
  const TaskGraph g = graph("s:a(10,100) s:b(20,2) s:c(30,4)");
  CHECK(to_text(committed(g, removal(g, {"b"})).graph) == "s:a(10,100) s:c(30,4)");
  CHECK(to_text(committed(g, removal(g, {"a"})).graph) == "s:b(20,102) s:c(30,4)");
}

TEST_CASE("commit: a kernel whose launch is removed is caused by what preceded the launch") {
  const TaskGraph g = graph("h:a(10) h:l(5,3) s:k(20)<l+2 h:b(1)");
  // The host time before the launch stays and passes before the kernel can start: 3 + 2.
  CHECK(to_text(committed(g, removal(g, {"l"})).graph) == "h:a(10) s:k(20)<a+5 h:b(1,3)");
  CHECK(to_text(committed(g, removal(g, {"l"}, SegmentOf::take)).graph) ==
        "h:a(10) s:k(20)<a+2 h:b(1)");
}

TEST_CASE("commit: what waited for a removed kernel waits for what the kernel came after") {
  const TaskGraph g = graph("h:l1(5) s:k1(20)<l1 h:l2(5) s:k2(20)<l2+3 h:l3(5) s2:m(7)<l3<k2+1");
  // m came after k2, hence after k1 (lag 1 is m's own); l2 stands before m's own launch l3.
  CHECK(to_text(committed(g, removal(g, {"k2"})).graph) ==
        "h:l1(5) s:k1(20)<l1 h:l2(5) h:l3(5) s2:m(7)<l3<k1+1<l2+1");
}

TEST_CASE("commit: a removed pair passes on an event that its stream waited for") {
  const TaskGraph g = graph("h:l1(5) s:k1(20)<l1 h:l2(5) s2:m(7)<l2<k1 h:l3(5) s2:n(7)<l3");
  // The stream s2 still comes after k1; l2's place is l1's end, which l3 implies.
  CHECK(to_text(committed(g, removal(g, {"l2", "m"})).graph) ==
        "h:l1(5) s:k1(20)<l1 h:l3(5) s2:n(7)<l3<k1");
}

TEST_CASE("commit: who waited for removed work, by name or by rule, waits for what it waited for") {
  const char* const recorded = "h2:y(1) s2:e(50)<y h:l(1) s:k(10)<l<e h:z(1) s3:m(5)<z<k h:x(0)~s";
  const TaskGraph g = graph(recorded);
  CHECK(to_text(committed(g, removal(g, {"k", "l"})).graph) ==
        "h2:y(1) s2:e(50)<y h:z(1) s3:m(5)<z<e h:x(0)<e");
  const TaskGraph r = graph("h2:y(1) s2:e(50)<y h:l(1) s:k(10)<l~s2 h:z(1) s3:m(5)<z<k h:x(0)~s");
  CHECK(to_text(committed(r, removal(r, {"k", "l"})).graph) ==
        "h2:y(1) s2:e(50)<y h:z(1) s3:m(5)<z<e h:x(0)<e");
}

TEST_CASE("commit: a stand-in takes over, whatever the order of the groups and of the streams") {
  const TaskGraph g = graph("h:l(1) s:a(10)<l s2:b(20)<l<a s:c(5)<l<b+2 s2:d(7)<l<c");
  Change change = removal(g, {"b", "c"});
  for (const char* name : {"c", "b"}) {
    change.inserted.push_back({spec(g, name, 3), task(g, name), Place::before});
    const auto put = make_id<TaskId>(g.size() + change.inserted.size() - 1);
    change.stand_ins.push_back({{task(g, name)}, put, put});
    change.new_dependencies.push_back({end_of(task(g, "l")), put, DependencyKind::launch});
  }
  CHECK(to_text(committed(g, change).graph) ==
        "h:l(1) s:a(10)<l s2:b(3)<l<a s:c(3)<l<b+2 s2:d(7)<l<c");
  change.stand_ins[0].members.push_back(task(g, "b"));
  CHECK(error_of(g, change) == "stand-in: kernel 'b' (task 2) is a member of two groups");
  change.stand_ins = {{{task(g, "a")}, task(g, "d"), task(g, "d")}};
  CHECK(error_of(g, change) == "stand-in: kernel 'a' (task 1) stays where it is");
}

TEST_CASE("commit: a law that a change breaks is named") {
  const TaskGraph g = graph("h2:y(1) s2:e(50)<y h:l(1) s:k(10)<l<e");
  Change change = removal(g, {"k"});
  change.inserted.push_back({spec(g, "k", 3), task(g, "k"), Place::before});
  const auto put = make_id<TaskId>(g.size());
  change.stand_ins.push_back({{task(g, "k")}, put, put});
  Committed right = committed(g, change);
  CHECK(check_laws(g, change, right).ok());
  // The same kernel, put in by hand.
  Change wrong = change;
  wrong.stand_ins.clear();
  auto made = commit(g, wrong, Checks::none);
  REQUIRE(made.ok());
  CHECK(check_laws(g, change, *made).error().message ==
        "edit: kernel 'k' (task 3) waited for kernel 'e' (task 1), and their replacements do not "
        "wait for each other");
}

TEST_CASE("commit: a hand-over to a removed task still takes its time, a latency does not") {
  const TaskGraph g = graph("h:a(10) h2:b(5)<a+7 h2:c(5,2)");
  // c: 7 of the hand-over, b has length zero, then c's own segment 2.
  CHECK(to_text(committed(g, removal(g, {"b"})).graph) == "h:a(10) h2:c(5,2)<a+9");
  CHECK(simulate(committed(g, removal(g, {"b"})).graph).start_ns(TaskId{1}) == 19);
}

TEST_CASE("commit: the waits of a removed call end, those of a removed kernel stay in its stream") {
  const TaskGraph g = graph("h:l(1) s:k(9)<l h:x(1)~s h:y(1) s2:m(5)~s@x s2:n(5)");
  CHECK(to_text(committed(g, removal(g, {"x"})).graph) ==
        "h:l(1) s:k(9)<l h:y(1) s2:m(5)~k s2:n(5)");
  CHECK(to_text(committed(g, removal(g, {"m"})).graph) ==
        "h:l(1) s:k(9)<l h:x(1)~k h:y(1) s2:n(5)~k");
}

TEST_CASE("commit: waits are rules, so that they follow inserted and removed work") {
  const TaskGraph g = graph("h:l1(1) s:k1(9)<l1 h:l2(1) s:k2(9)<l2 h:x(0)~s");
  CHECK(to_text(committed(g, removal(g, {"k2", "l2"})).graph) == "h:l1(1) s:k1(9)<l1 h:x(0)~k1");
  Change change;
  change.inserted.push_back({spec(g, "k2", 30), task(g, "k2")});
  const Committed c = committed(g, change);
  CHECK(to_text(c.graph) == "h:l1(1) s:k1(9)<l1 h:l2(1) s:k2(9)<l2 s:k2(30) h:x(0)~k2");
  CHECK(c.new_id.size() == 6);
  CHECK(c.new_id[5] == TaskId{4});
  CHECK(simulate(c.graph).start_ns(c.new_id[4]) == 49);  // l1, k1 9, k2 9, inserted 30
}

TEST_CASE("commit: a position at a removed task becomes that of the next one") {
  const TaskGraph g = graph("s:a(1) h:p(1) s:b(1) s:c(1) s2:m(1)~s@p");
  CHECK(to_text(committed(g, removal(g, {"p"})).graph) == "s:a(1) s:b(1) s:c(1) s2:m(1)~a");
  CHECK(to_text(committed(g, removal(g, {"a", "p"})).graph) == "s:b(1) s:c(1) s2:m(1)");
}

TEST_CASE("commit: removed launches leave the queue; another depth is a change of the hardware") {
  const TaskGraph g = graph("s[1] h:l0(1) s:k0(9)<l0 h:l1(1) s:k1(9)<l1 h:l2(1) s:k2(9)<l2");
  CHECK(to_text(committed(g, removal(g, {"l1", "k1"})).graph) ==
        "h:l0(1) s:k0(9)<l0 h:l2(1)~^k0 s:k2(9)<l2");
  Change change;
  change.queues.push_back({LaneId{0}, 2});
  CHECK(to_text(committed(g, change).graph) ==
        "h:l0(1) s:k0(9)<l0 h:l1(1) s:k1(9)<l1 h:l2(1)~^k0 s:k2(9)<l2");
  change.queues[0].depth = 0;
  CHECK(to_text(committed(g, change).graph) ==
        "h:l0(1) s:k0(9)<l0 h:l1(1) s:k1(9)<l1 h:l2(1) s:k2(9)<l2");
}

TEST_CASE("commit: insertions at one place keep their order and may hang on each other") {
  const TaskGraph g = graph("h:a(1) h:b(1)");
  Change change;
  change.inserted.push_back({spec(g, "a", 10), TaskId{0}, Place::after});
  change.inserted.push_back({spec(g, "a", 20), TaskId{0}, Place::after});
  change.inserted.push_back({spec(g, "a", 11), TaskId{2}, Place::after});
  change.inserted.push_back({spec(g, "a", 2), TaskId{0}, Place::before});
  change.inserted.push_back({spec(g, "a", 3), TaskId{0}, Place::before});
  CHECK(to_text(committed(g, change).graph) ==
        "h:a(2) h:a(3) h:a(1) h:a(10) h:a(11) h:a(20) h:b(1)");
}

TEST_CASE("commit: an insertion at a removed task takes its place and its segment") {
  const TaskGraph g = graph("h:a(1) h:b(2,5) h:c(3)");
  Change change = removal(g, {"b"});
  change.inserted.push_back({spec(g, "c", 9), task(g, "b"), Place::after});
  CHECK(to_text(committed(g, change).graph) == "h:a(1) h:c(9,5) h:c(3)");
}

TEST_CASE("commit: new works and names get ids behind the old ones") {
  const TaskGraph g = graph("h:l(1) s:k(9)<l");
  Change change;
  Work work = g.work(task(g, "k"));
  work.name = change.names.intern("fused");
  change.new_works.push_back(work);
  TaskSpec fused = spec(g, "k", 4);
  fused.work = make_id<WorkId>(g.context().works.size());
  change.inserted.push_back({fused, task(g, "k")});
  change.new_dependencies.push_back({end_of(task(g, "l")), TaskId{2}, DependencyKind::launch, 5});
  CHECK(to_text(committed(g, change).graph) == "h:l(1) s:k(9)<l s:fused(4)<l+5");
}

TEST_CASE("commit: a move changes the lane, a reordering the place on it") {
  const TaskGraph g = graph("h:a(1) s:k(9)<a s:m(5) s2:n(3)");
  Change move;
  move.moved.push_back({task(g, "m"), g.lane_id(task(g, "n"))});
  CHECK(to_text(committed(g, move).graph) == "h:a(1) s:k(9)<a s2:m(5) s2:n(3)");
  CHECK(simulate(committed(g, move).graph).start_ns(TaskId{3}) == 5);
  Change reorder;
  reorder.reordered.push_back({task(g, "k"), task(g, "m"), Place::after});
  const Committed c = committed(g, reorder);
  CHECK(to_text(c.graph) == "h:a(1) s:m(5) s:k(9)<a s2:n(3)");
  CHECK(c.new_id == std::vector<TaskId>{TaskId{0}, TaskId{2}, TaskId{1}, TaskId{3}});
}

TEST_CASE("commit: a task on a new lane of a new rank makes a class for it") {
  const TaskGraph g = graph("h:a(1) s:k(9)<a");
  Change change;
  Lane lane = g.context().lanes[1];
  lane.rank = 1;
  change.new_lanes.push_back(lane);
  TaskSpec copy = spec(g, "k", 9);
  copy.lane = LaneId{2};
  change.inserted.push_back({copy, task(g, "k")});
  const Committed c = committed(g, change);
  CHECK(c.graph.context().rank_classes.size() == 2);
}

TEST_CASE("commit: dependencies go by kind, and by source if one is named") {
  const TaskGraph g = graph("h:a(1) h2:b(1) h3:c(1)<a<b h4:d(1)<a:data s:k(1) h:x(0)~s~*");
  Change change;
  change.removed_dependencies.push_back({task(g, "c"), DependencyKind::hand_over, task(g, "b")});
  change.removed_dependencies.push_back({task(g, "d"), DependencyKind::hand_over});
  change.removed_dependencies.push_back({task(g, "x"), DependencyKind::synchronization});
  CHECK(to_text(committed(g, change).graph) == "h:a(1) h2:b(1) h3:c(1)<a h4:d(1)<a s:k(1) h:x(0)");
}

TEST_CASE("commit: labelled parts of a segment keep their share of it") {
  GraphBuilder builder;
  const LaneId h = builder.add_lane({LaneKind::host_thread, 0, no_device, 1, 0, "h"});
  const WorkId work = builder.add_work(Work{});
  for (int i = 0; i < 4; ++i) {
    builder.add_task({h, work, TaskKind::host, 1, 10, Phase::unknown, LayerId{}, -1});
  }
  builder.add_segment_part({TaskId{1}, NameId{}, LayerId{}, 7});
  builder.add_segment_part({TaskId{2}, NameId{}, LayerId{}, 8});
  const TaskGraph g = *std::move(builder).build();
  Change change;
  change.segments = {{TaskId{1}, 30}};
  for (const bool structural : {false, true}) {
    CAPTURE(structural);
    if (structural) change.removed = {{TaskId{3}}};
    const auto parts = committed(g, change).graph.context().segment_parts;
    REQUIRE(parts.size() == 2);
    CHECK(parts[0].duration_ns == 21);
    CHECK(parts[1].duration_ns == 8);
  }
  CHECK(g.context().segment_parts[0].duration_ns == 7);
}

TEST_CASE("commit: steps, tensors, parts and demands follow the tasks that stay") {
  GraphBuilder builder;
  const LaneId h = builder.add_lane({LaneKind::host_thread, 0, no_device, 1, 0, "h"});
  const WorkId work = builder.add_work(Work{});
  for (int i = 0; i < 6; ++i) {
    builder.add_task({h, work, TaskKind::host, 1, 10, Phase::unknown, LayerId{}, i < 3 ? 0 : 1});
  }
  builder.add_step({0, 5, TaskId{0}, TaskId{2}});
  builder.add_step({0, 6, TaskId{3}, TaskId{5}});
  builder.add_segment_part({TaskId{1}, NameId{}, LayerId{}, 7});
  builder.add_segment_part({TaskId{2}, NameId{}, LayerId{}, 8});
  builder.add_tensor({.bytes = 64,
                      .category = TensorCategory::weight,
                      .allocated_in = TaskId{1},
                      .freed_in = TaskId{5},
                      .allocated_offset_ns = 4,
                      .freed_offset_ns = 3});
  builder.add_demand({TaskId{1}, builder.add_capacity({"sm", 1.0}), 0.5F});
  builder.add_demand({TaskId{4}, 0, 0.5F});
  const TaskGraph g = *std::move(builder).build();

  Change change;
  change.removed = {{TaskId{0}}, {TaskId{1}}, {TaskId{5}}};
  const TaskGraph kept = committed(g, change).graph;  // 2, 3 and 4 remain as 0, 1 and 2
  const GraphContext& context = kept.context();
  REQUIRE(context.steps.size() == 2);
  CHECK(context.steps[0].begin == TaskId{0});  // the next task of the thread
  CHECK(context.steps[1].end == TaskId{2});    // the one before
  CHECK(context.segment_parts[0].task == TaskId{0});
  CHECK(context.segment_parts[0].duration_ns == 7);
  // Allocated 4 before the end of segment 1, which ends 10 before that of segment 2.
  CHECK(context.tensors[0].allocated_in == TaskId{0});
  CHECK(context.tensors[0].allocated_offset_ns == 14);
  CHECK(context.tensors[0].freed_in == TaskId{2});
  CHECK(context.tensors[0].freed_offset_ns == 0);
  REQUIRE(context.demands.size() == 1);
  CHECK(context.demands[0].task == TaskId{2});

  Change first_step;
  first_step.removed = {
      {TaskId{0}, SegmentOf::take}, {TaskId{1}, SegmentOf::take}, {TaskId{2}, SegmentOf::take}};
  const TaskGraph second = committed(g, first_step).graph;
  REQUIRE(second.context().steps.size() == 1);
  CHECK(second.context().steps[0].number == 6);
  CHECK(second.step(TaskId{0}) == 0);
  CHECK(second.context().segment_parts.empty());
}

TEST_CASE("commit: priorities and lane policies stay with the graph") {
  const TaskGraph g = graph("h:a(1) s:k(9)<a s:m(5)");
  Change change;
  change.priorities.push_back({task(g, "m"), -3});
  change.policies.push_back({LaneId{1}, LanePolicy::priority});
  const Committed c = committed(g, change);
  CHECK(&c.graph.topology() == &g.topology());
  CHECK(c.graph.context().lanes[1].policy == LanePolicy::priority);
  change.priorities[0].priority = 4;
  const Committed again = committed(c.graph, change);
  REQUIRE(again.graph.context().priorities.size() == 1);
  CHECK(again.graph.context().priorities[0].priority == 4);
  const Committed removed = committed(again.graph, removal(g, {"k"}));
  CHECK(removed.graph.context().priorities[0].task == TaskId{1});
  CHECK(committed(removed.graph, removal(removed.graph, {"m"})).graph.context().priorities.empty());
}

TEST_CASE("commit: a new dependency that closes a cycle is named by its tasks") {
  const TaskGraph g = graph("h:a(1) s:k(9)<a h:b(1)");
  Change change;
  change.new_dependencies.push_back({end_of(task(g, "b")), task(g, "k")});
  CHECK(to_text(committed(g, change).graph) == "h:a(1) h:b(1) s:k(9)<a<b");
  change.new_dependencies.push_back({end_of(task(g, "k")), task(g, "b")});
  auto result = commit(g, change);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == ErrorCode::cyclic_graph);
  CHECK(result.error().message ==
        "dependency cycle: host 'b' (task 2) -> kernel 'k' (task 1) -> host 'b' (task 2)");
}
