#include "apps/session/predict.h"

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "apps/questions/search/ranking.h"
#include "apps/session/replay/analysis.h"
#include "sim/edit/editor.h"
#include "tests/sim/graph/text_graph.h"

namespace foretrace {
namespace {

Recording recording_of(std::string_view text) {
  Recording recording;
  recording.path = "text";
  recording.built.graph = test::graph(text);
  return recording;
}

/// Halves kernel "k" and trusts it from 0.8 to 1.5 of that.
Result<Change> halve_k(const WhatIfInput& scenario, const ParamValues& /*values*/) {
  Change change;
  const TaskId k = test::task(scenario.graph, "k");
  change.durations.push_back(
      {k, scenario.graph.duration_ns(k) / 2, Provenance::scaled, 0.8F, 1.5F});
  return change;
}

Result<Change> remove_a(const WhatIfInput& scenario, const ParamValues& /*values*/) {
  Change change;
  change.removed.push_back({test::task(scenario.graph, "a"), SegmentOf::keep});
  return change;
}

Result<Change> find_nothing(const WhatIfInput& /*scenario*/, const ParamValues& /*values*/) {
  return Error{ErrorCode::no_match, "there is nothing of the kind"};
}

WhatIfInfo info(std::string_view name, Result<Change> (*apply)(const WhatIfInput& /*scenario*/,
                                                               const ParamValues& /*values*/)) {
  WhatIfInfo made{};
  made.name = name;
  made.apply = apply;
  return made;
}

TEST_CASE("a prediction is the changed graph simulated, between its declared bounds") {
  const Recording recording = recording_of("h:a(10) s:k(100)<a");
  const WhatIfInfo half = info("half", halve_k);
  const std::array<WhatIf, 1> stack = {{{&half, {}}}};
  const Result<Prediction> prediction = predict(recording, stack);
  REQUIRE(prediction.ok());
  CHECK(prediction->run.answer.step_ns == 60);  // 10 + 100 / 2
  CHECK(prediction->declared_low_ns == 50);     // 10 + 0.8 x 50
  CHECK(prediction->declared_high_ns == 85);    // 10 + 1.5 x 50
  CHECK(prediction->applied[0].tasks_changed == 1);
  CHECK(simulate_run(recording.graph())->answer.step_ns == 110);  // the recording is as it was
}

/// A cast before "n" with a time of its own; "k" keeps its time and gets a range.
Result<Change> cast_n(const WhatIfInput& scenario, const ParamValues& /*values*/) {
  const TaskGraph& graph = scenario.graph;
  const TaskId k = test::task(graph, "k");
  const TaskId n = test::task(graph, "n");
  Editor editor(graph);
  const TaskId cast = editor.insert(editor.like(n), n, Place::before);
  editor.share_waits(cast, n);
  editor.set_duration(cast, 30);
  Change change = editor.finish();
  change.durations.push_back({k, graph.duration_ns(k), Provenance::measured, 0.5F, 2.0F});
  return change;
}

TEST_CASE("a new task with a time of its own is one changed task, a mere range is none") {
  const Recording recording = recording_of("h:a(10) s:k(100)<a h:b(10) t2:n(20)<b<k");
  const WhatIfInfo cast = info("cast", cast_n);
  const std::array<WhatIf, 1> stack = {{{&cast, {}}}};
  const Result<Prediction> prediction = predict(recording, stack);
  REQUIRE(prediction.ok());
  CHECK(test::to_text(prediction->graph) == "h:a(10) s:k(100)<a h:b(10) t2:n(30)<b<k t2:n(20)<b<k");
  CHECK(prediction->run.answer.step_ns == 160);  // 10 + 100 + 30 + 20
  CHECK(prediction->declared_low_ns == 110);     // 10 + 0.5 x 100 + 30 + 20
  CHECK(prediction->applied[0].tasks_changed == 1);
}

Result<Change> doubt_it(const WhatIfInput& scenario, const ParamValues& values) {
  Result<Change> change = halve_k(scenario, values);
  change->doubts.push_back({"no update is recorded"});
  return change;
}

TEST_CASE("a what-if that doubts its answer widens its range") {
  const Recording recording = recording_of("h:a(10) s:k(100)<a");
  const WhatIfInfo half = info("half", halve_k);
  const WhatIfInfo doubted = info("doubted", doubt_it);
  const std::array<WhatIf, 1> sure = {{{&half, {}}}};
  const std::array<WhatIf, 1> unsure = {{{&doubted, {}}}};
  const Result<Prediction> one = predict(recording, sure);
  const Result<Prediction> other = predict(recording, unsure);
  REQUIRE(one.ok());
  REQUIRE(other.ok());
  CHECK(one->doubts().empty());
  REQUIRE(other->doubts().size() == 1);
  CHECK(other->doubts()[0].brief == "no update is recorded");
  CHECK(other->doubts()[0].text == "doubted: no update is recorded");
  CHECK(one->slower.doubt == 1);
  CHECK(other->slower.doubt == 2);
  CHECK(other->high_ns > one->high_ns);
  CHECK(other->low_ns < one->low_ns);
}

TEST_CASE("bounds of what-ifs on one task multiply and follow it through a removal") {
  const Recording recording = recording_of("h:a(10) h:b(10) s:k(100)<b");
  const WhatIfInfo half = info("half", halve_k);
  const WhatIfInfo removal = info("removal", remove_a);
  const std::array<WhatIf, 3> stack = {{{&half, {}}, {&removal, {}}, {&half, {}}}};
  const Result<Prediction> prediction = predict(recording, stack);
  REQUIRE(prediction.ok());
  CHECK(prediction->run.answer.step_ns == 35);  // b 10 + 100 / 4
  CHECK(prediction->declared_low_ns == 26);     // 10 + 0.64 x 25
  CHECK(prediction->declared_high_ns == 66);    // 10 + 2.25 x 25 = 66.25
}

/// Gives kernel "k" the duration that it has.
Result<Change> leave_k(const WhatIfInput& scenario, const ParamValues& /*values*/) {
  Change change;
  const TaskId k = test::task(scenario.graph, "k");
  change.durations.push_back({k, scenario.graph.duration_ns(k), Provenance::scaled, 0.8F, 1.5F});
  change.notes.emplace_back("k is as fast as it gets");
  return change;
}

TEST_CASE("a what-if that changes nothing in the end says so, with its own words") {
  const WhatIfInfo idle = info("idle", leave_k);
  const std::array<WhatIf, 1> stack = {{{&idle, {}}}};
  const Recording recording = recording_of("h:a(10) s:k(100)<a");
  const Result<Prediction> prediction = predict(recording, stack);
  REQUIRE_MESSAGE(prediction.ok(), prediction.error().message);
  REQUIRE(prediction->applied.size() == 1);
  CHECK(prediction->applied[0].notes ==
        std::vector<std::string>{"changes nothing: k is as fast as it gets"});
  CHECK(prediction->applied[0].tasks_changed == 0);
}

/// What is said again of lanes, tasks and tensors is no change; anything else about them is one.
struct Said {
  LanePolicy policy = LanePolicy::program_order;
  std::int32_t priority = 0;
  std::int64_t bytes = 1024;
  std::int64_t requested_bytes = 1000;
};

Said said;  // what-ifs are functions

Result<Change> say_again(const WhatIfInput& scenario, const ParamValues& /*values*/) {
  Change change;
  const TaskId k = test::task(scenario.graph, "k");
  change.policies.push_back({scenario.graph.lane_id(k), said.policy});
  change.priorities.push_back({k, said.priority});
  change.tensors.push_back(
      {.tensor = {}, .bytes = said.bytes, .requested_bytes = said.requested_bytes});
  return change;
}

TEST_CASE("what says again what is so changes nothing; another policy, priority or size does") {
  Recording recording = recording_of("h:a(10) s:k(100)<a");
  auto context = std::make_shared<GraphContext>(recording.graph().context());
  const TaskId a = test::task(recording.graph(), "a");
  context->tensors.push_back({.bytes = 1024, .requested_bytes = 1000, .allocated_in = a});
  recording.built.graph =
      TaskGraph(recording.graph().shared_topology(), recording.graph().shared_columns(), context,
                recording.graph().weights());
  const WhatIfInfo again = info("again", say_again);
  const std::array<WhatIf, 1> stack = {{{&again, {}}}};
  const auto changes = [&](const Said& what) {
    said = what;
    RunOptions options;
    options.neutral = Neutral::refuse;
    const Result<Prediction> prediction = predict(recording, stack, options);
    if (prediction.ok()) return true;
    CHECK(prediction.error().message == "again: changes nothing: every task stays as recorded");
    return false;
  };
  CHECK_FALSE(changes({}));
  CHECK(changes({.policy = LanePolicy::priority}));
  CHECK(changes({.priority = -1}));
  CHECK(changes({.bytes = 2048, .requested_bytes = 2000}));
  CHECK(changes({.requested_bytes = 600}));  // the allocator is asked for less
  CHECK(changes({.requested_bytes = -1}));   // for the whole block
}

/// A step with twice the samples that takes as long: its device had room.
Result<Change> double_samples(const WhatIfInput& scenario, const ParamValues& values) {
  Result<Change> change = leave_k(scenario, values);
  change->samples = 2;
  return change;
}

TEST_CASE("more samples in the same time are a change, also to who looks for a gain") {
  const WhatIfInfo more = info("more", double_samples);
  const std::array<WhatIf, 1> stack = {{{&more, {}}}};
  const Recording recording = recording_of("h:a(10) s:k(100)<a");
  for (const Neutral neutral : {Neutral::keep, Neutral::refuse}) {
    RunOptions options;
    options.neutral = neutral;
    const Result<Prediction> prediction = predict(recording, stack, options);
    REQUIRE_MESSAGE(prediction.ok(), prediction.error().message);
    CHECK(prediction->run.answer.step_ns == 110);
    CHECK(prediction->samples == 2);  // a speedup of 2
    CHECK(prediction->applied[0].notes == std::vector<std::string>{"k is as fast as it gets"});
  }
}

TEST_CASE("who looks for a gain hears that a what-if changes nothing") {
  const WhatIfInfo idle = info("idle", leave_k);
  const std::array<WhatIf, 1> stack = {{{&idle, {}}}};
  RunOptions options;
  options.neutral = Neutral::refuse;
  const Result<Prediction> prediction = predict(recording_of("h:a(10) s:k(100)<a"), stack, options);
  REQUIRE_FALSE(prediction.ok());
  CHECK(prediction.error().code == ErrorCode::no_match);
  CHECK(prediction.error().message == "idle: changes nothing: k is as fast as it gets");
}

TEST_CASE("what-ifs are applied by stage and name, whatever order they are given in") {
  // "b" of an earlier stage removes a, without which "a" finds nothing.
  const auto needs_a = [](const WhatIfInput& scenario, const ParamValues& /*values*/) {
    Change change;
    for (std::size_t i = 0; i < scenario.graph.size(); ++i) {
      const auto task = make_id<TaskId>(i);
      if (scenario.graph.name(task) == "a" && scenario.graph.duration_ns(task) > 0) {
        change.durations.push_back({task, 1, Provenance::scaled, 1.0F, 1.0F});
      }
    }
    return change.durations.empty() ? Result<Change>(Error{ErrorCode::no_match, "a is gone"})
                                    : Result<Change>(std::move(change));
  };
  WhatIfInfo later = info("a", needs_a);
  later.stage = ApplyStage::schedule;
  WhatIfInfo earlier = info("b", remove_a);
  earlier.stage = ApplyStage::workload;
  const Recording recording = recording_of("h:a(10) h:b(10) s:k(100)<b");
  const std::array<WhatIf, 2> one = {{{&later, {}}, {&earlier, {}}}};
  const std::array<WhatIf, 2> other = {{{&earlier, {}}, {&later, {}}}};
  CHECK(predict(recording, one).error().message == "a: a is gone");
  CHECK(predict(recording, other).error().message == "a: a is gone");
  CHECK(in_order(one).front().info == &earlier);
}

TEST_CASE("a what-if that finds nothing stops the stack and is named") {
  const WhatIfInfo nothing = info("nothing", find_nothing);
  const std::array<WhatIf, 1> stack = {{{&nothing, {}}}};
  const Result<Prediction> prediction = predict(recording_of("h:a(10)"), stack);
  REQUIRE_FALSE(prediction.ok());
  CHECK(prediction.error().code == ErrorCode::no_match);
  CHECK(prediction.error().message == "nothing: there is nothing of the kind");
}

TEST_CASE("reactions scale the device and the host apart") {
  // Host 10, then a kernel of 100 that the host does not wait for.
  const Reactions reactions = reactions_of(test::graph("h:a(10) s:k(100)<a"));
  CHECK(reactions.device_x0_ns == 10);
  CHECK(reactions.device_half_ns == 60);
  CHECK(reactions.device_double_ns == 210);
  CHECK(reactions.host_x0_ns == 100);
}

TEST_CASE("a ranking leaves out what needs a parameter or finds nothing, with the reason") {
  const Recording recording = recording_of("h:a(10)");
  const Result<Ranking> ranking = rank_all(*Session::of(recording));
  REQUIRE(ranking.ok());
  CHECK(ranking->rows.empty());
  CHECK(ranking->left_out.size() == what_ifs::all().size());
  for (const Unranked& unranked : ranking->left_out) {
    CHECK_FALSE(unranked.reason.empty());
    CHECK(unranked.reason.rfind(unranked.name, 0) == std::string::npos);  // no name is said twice
  }
}

TEST_CASE("the breakdown of a run without steps sums to its span") {
  const TaskGraph graph = test::graph("h:a(10,5) s:k(100)<a h:b(3)<k+7");
  const Result<Run> run = simulate_run(graph);
  REQUIRE(run.ok());
  const Analysis analysis = analyse(graph, *run);
  CHECK(analysis.breakdown.total_ns() == 125);  // 5 + 10 + 100 + 7 + 3
  CHECK(analysis.breakdown.compute_ns == 100);
  CHECK(analysis.breakdown.host_bound_ns == 18);
  CHECK(analysis.breakdown.idle_ns == 7);
  CHECK(analysis.provenance[0] == doctest::Approx(1.0));
  CHECK_FALSE(analysis.free_transfers_ns.has_value());
}

TEST_CASE("free communication is the simulated gain without collectives") {
  // The collective of 40 runs beside k (100) on its own stream; 60 of the next kernel wait for it.
  const TaskGraph graph =
      test::graph("h:a(10) s:k(100)<a h:b(10) t:c(140)=collective<b h:d(10) s:l(5)<d<c");
  const Result<Run> run = simulate_run(graph);
  REQUIRE(run.ok());
  const Analysis analysis = analyse(graph, *run);
  // With it: b ends at 20, c at 160, l at 165. Without: l starts when k ends at 110, ends at 115.
  CHECK(analysis.free_transfers_ns == 50);
}

}  // namespace
}  // namespace foretrace
