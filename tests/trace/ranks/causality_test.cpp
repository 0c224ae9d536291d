// What-ifs between recorded jobs: a replay that is exact proves nothing, these can fail.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "sim/graph/change.h"
#include "tests/trace/ranks/real_jobs.h"
#include "trace/ranks/job.h"

namespace foretrace::trace {
namespace {

using Times = std::vector<std::int64_t>;

std::int64_t middle(Times values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/// Steps of the job, last one last: the median over ranks of steps that are equally far from the
/// end.
Times job_steps(const BuiltJob& job, const TaskGraph& graph) {
  const Timeline timeline = simulate(graph);
  std::map<std::size_t, Times> by_distance;
  for (const RankFacts& rank : job.ranks) {
    for (std::size_t i = 0; i < rank.step_count; ++i) {
      const Step& step = graph.context().steps[rank.first_step + i];
      by_distance[rank.step_count - i].push_back(timeline.start_ns(step.end) -
                                                 timeline.start_ns(step.begin));
    }
  }
  Times steps;
  // NOLINTNEXTLINE(modernize-loop-convert): clang 14 has no reversed views of libstdc++
  for (auto at = by_distance.rbegin(); at != by_distance.rend(); ++at) {
    steps.push_back(middle(at->second));
  }
  return steps;
}

BuiltJob build(const char* name, const LeftOutRules& without = {}) {
  auto traces = read_real_job(name);
  REQUIRE(traces.ok());
  BuildOptions options;
  options.without_rules = without;
  auto job = build_job(*traces, options);
  REQUIRE(job.ok());
  return std::move(job).value();
}

/// Stalls between two durations.
std::vector<Stall> stalls_of(const BuiltJob& job, std::int64_t shortest, std::int64_t longest) {
  std::vector<Stall> list;
  for (const Stall& stall : job.built.graph.context().stalls) {
    if (stall.duration_ns >= shortest && stall.duration_ns <= longest) {
      list.push_back(stall);
    }
  }
  return list;
}

/// The graph with every stall as long as `to_ns`.
TaskGraph with_stalls(const TaskGraph& graph, const std::vector<Stall>& stalls,
                      std::int64_t to_ns) {
  Change change;
  for (const Stall& stall : stalls) {
    change.segments.push_back(
        {stall.task, graph.segment_ns(stall.task) - stall.duration_ns + to_ns});
  }
  auto committed = commit(graph, change);
  REQUIRE(committed.ok());
  return committed->graph;
}

double error(std::int64_t predicted, std::int64_t measured) {
  return std::abs(static_cast<double>(predicted) / static_cast<double>(measured) - 1);
}

constexpr std::int64_t ms = 1'000'000;

}  // namespace

TEST_CASE("causality: stalls of 1 s are found on one rank, and steps without them are predicted") {
  if (recordings().empty()) {
    MESSAGE("no recordings here: skipped");
    return;
  }
  const BuiltJob straggler = build("str");
  const std::vector<Stall> stalls = stalls_of(straggler, 100 * ms, 10'000 * ms);
  const TaskGraph& graph = straggler.built.graph;
  REQUIRE(stalls.size() == 3);
  for (const Stall& stall : stalls) {
    CHECK(graph.lane(stall.task).rank == 2);
    CHECK(std::abs(stall.duration_ns - 1001 * ms) < 1 * ms);
  }
  const BuiltJob other = build("nostr");
  const Times measured = job_steps(other, other.built.graph);
  const Times removed = job_steps(
      straggler,
      with_stalls(
          graph, stalls,
          0));  // The recorded run "without straggler" stalls for 20.2 ms at the same places.
  const Times shortened = job_steps(straggler, with_stalls(graph, stalls, 20'200'000));
  CHECK(error(middle(removed), 158'800'000) <= 0.12);
  CHECK(error(middle(shortened), 158'800'000) <= 0.05);
}

TEST_CASE("causality: stalls of 20 ms made 1 s long predict the straggling run step by step") {
  if (recordings().empty()) {
    MESSAGE("no recordings here: skipped");
    return;
  }
  const BuiltJob base = build("nostr");
  const TaskGraph& graph = base.built.graph;
  std::vector<Stall> forward;
  std::vector<Stall> backward;
  for (const Stall& stall : stalls_of(base, 18 * ms, 22 * ms)) {
    CHECK(graph.lane(stall.task).rank == 2);
    const Step& step = graph.context().steps[static_cast<std::size_t>(graph.step(stall.task))];
    const bool main = graph.lane_id(step.begin) == graph.lane_id(stall.task);
    (main ? forward : backward).push_back(stall);
  }
  REQUIRE(forward.size() == 3);
  REQUIRE(backward.size() == 3);
  const TaskGraph awake = with_stalls(graph, backward, 0);
  const Times predicted = job_steps(base, with_stalls(awake, forward, 1'001'250'000));
  const BuiltJob straggler = build("str");
  const Times measured = job_steps(straggler, straggler.built.graph);
  REQUIRE(predicted.size() == measured.size());
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    CHECK(error(predicted[i], measured[i]) <= 0.02);
  }
}

TEST_CASE("causality: without the hand-over rule the prediction is wrong by far") {
  if (recordings().empty()) {
    MESSAGE("no recordings here: skipped");
    return;
  }
  const BuiltJob straggler = build("str", {"hand_over"});
  const std::vector<Stall> stalls = stalls_of(straggler, 100 * ms, 10'000 * ms);
  const Times removed = job_steps(straggler, with_stalls(straggler.built.graph, stalls, 0));
  CHECK(error(middle(removed), 158'800'000) > 0.5);
}

}  // namespace foretrace::trace
