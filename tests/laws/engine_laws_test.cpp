// Laws of the engines, on random graphs with fixed seeds.
#include <algorithm>
#include <limits>
#include <memory>
#include <random>

#include <doctest/doctest.h>

#include "sim/engine/event/event_driven.h"
#include "sim/engine/path/critical_path.h"
#include "sim/engine/pull/pull.h"
#include "sim/engine/reactions.h"
#include "sim/graph/links.h"
#include "tests/sim/engine/random_graph.h"
#include "tests/sim/graph/scaled.h"

namespace foretrace {
namespace {

using test::Parts;
using test::RandomGraphOptions;

constexpr std::uint64_t rounds = 40;

RandomGraphOptions options_of(std::uint64_t seed) {
  return {.tasks = 20 + 30 * seed,
          .lanes = 1 + seed % 11,
          .seed = seed,
          .window = 4 + seed % 200,
          .overflow_share = 0.02 * static_cast<double>(seed % 10),
          .negative_share = 0.05 * static_cast<double>(seed % 8)};
}

/// Without conditions and fractions: those are where monotony and exact scaling end.
RandomGraphOptions plain_options_of(std::uint64_t seed) {
  RandomGraphOptions options = options_of(seed);
  options.late_share = 0;
  options.fraction_share = 0;
  return options;
}

/// Latest release by every dependency of the task, from the definition.
std::int64_t earliest_start(const TaskGraph& graph, const Timeline& timeline, TaskId task) {
  std::int64_t start = 0;
  for (const Link& d : sources(graph, task)) {
    const std::int64_t source = timeline.points[index(d.source)];
    if (d.late_after != no_point && source <= timeline.points[index(d.late_after)]) {
      continue;
    }
    const double share =
        static_cast<double>(d.fraction) * static_cast<double>(graph.duration_ns(task_of(d.source)));
    start = std::max<std::int64_t>(start, source + d.lag_ns + std::llround(share));
  }
  if (graph.topology().sources[index(task)][lane_slot] == no_point) {
    start = std::max(start, graph.segment_ns(task));
  }
  return start;
}

TEST_CASE("law: pull engine, event-driven engine and definition agree on every time") {
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    CAPTURE(seed);
    const TaskGraph graph = test::random_graph(options_of(seed));
    const Timeline expected = test::naive_simulate(graph.topology(), graph.weights());
    CHECK(simulate(graph).points == expected.points);
    CHECK(simulate(graph).span_ns == expected.span_ns);
    for (const EventQueueKind queue : {EventQueueKind::heap, EventQueueKind::calendar}) {
      auto execution = simulate_event_driven(graph, {.queue = queue});
      REQUIRE(execution.ok());
      CHECK(execution->timeline.points == expected.points);
      CHECK(execution->timeline.span_ns == expected.span_ns);
    }
    Policy idle;
    auto general = simulate_event_driven(graph, {.policy = &idle});
    REQUIRE(general.ok());
    CHECK(general->timeline.points == expected.points);
  }
}

TEST_CASE("law: a batch of variants has the times of single simulations") {
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    CAPTURE(seed);
    const TaskGraph graph = test::random_graph(options_of(seed));
    std::vector<Weights> variants;
    for (std::uint64_t v = 0; v < 1 + seed % 20; ++v) {
      const double factor = 0.25 * static_cast<double>(v);
      variants.push_back(v % 3 == 0   ? scale_device(graph, factor)
                         : v % 3 == 1 ? scale_host(graph, factor)
                                      : test::scale_everything(graph, factor));
    }
    const std::vector<Timeline> batch = simulate_batch(graph.topology(), variants);
    const std::vector<std::int64_t> spans = simulate_batch_spans(graph.topology(), variants);
    for (std::size_t v = 0; v < variants.size(); ++v) {
      const Timeline single = simulate(graph.with_weights(variants[v]));
      CHECK(batch[v].points == single.points);
      CHECK(spans[v] == single.span_ns);
    }
  }
}

TEST_CASE("law: the span is no shorter than the longest chain of work nor the busiest lane") {
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    CAPTURE(seed);
    const TaskGraph graph = test::random_graph(options_of(seed));
    const Timeline timeline = simulate(graph);
    std::vector<std::int64_t> chain(graph.size(), 0);
    std::vector<std::int64_t> lane(graph.context().lanes.size(), 0);
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const auto task = make_id<TaskId>(i);
      for (const Link& d : sources(graph, task)) {
        if (!is_end(d.source) || d.lag_ns < 0 || d.late_after != no_point) {
          continue;
        }
        chain[i] = std::max(chain[i], chain[index(task_of(d.source))]);
      }
      chain[i] += graph.duration_ns(task);
      lane[index(graph.lane_id(task))] += graph.duration_ns(task) + graph.segment_ns(task);
    }
    CHECK(timeline.span_ns >= *std::max_element(chain.begin(), chain.end()));
    CHECK(timeline.span_ns >= *std::max_element(lane.begin(), lane.end()));
    CHECK(critical_path(graph, timeline).total_ns == timeline.span_ns);
  }
}

TEST_CASE("law: every task starts exactly when its dependencies and segment let it") {
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    CAPTURE(seed);
    const TaskGraph graph = test::random_graph(options_of(seed));
    const Timeline timeline = simulate(graph);
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const auto task = make_id<TaskId>(i);
      CHECK(timeline.start_ns(task) == earliest_start(graph, timeline, task));
      CHECK(timeline.end_ns(task) == timeline.start_ns(task) + graph.duration_ns(task));
    }
  }
}

TEST_CASE("law: without conditional lags one more dependency makes nothing earlier") {
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    CAPTURE(seed);
    RandomGraphOptions options = options_of(seed);
    options.late_share = 0;
    Parts parts = test::random_parts(options);
    const TaskGraph before = parts.graph();
    std::mt19937_64 random(seed);
    const std::size_t to = 1 + random() % (parts.duration_ns.size() - 1);
    OverflowDependency added;
    added.task = make_id<TaskId>(to);
    added.source = end_of(make_id<TaskId>(random() % to));
    const auto at = static_cast<std::ptrdiff_t>(
        std::upper_bound(parts.topology.overflow.begin(), parts.topology.overflow.end(), added.task,
                         [](TaskId id, const OverflowDependency& row) { return id < row.task; }) -
        parts.topology.overflow.begin());
    parts.topology.overflow.insert(parts.topology.overflow.begin() + at, added);
    parts.overflow_lag_ns.insert(parts.overflow_lag_ns.begin() + at, 500);
    parts.finish();
    const Timeline old_times = simulate(before);
    const Timeline new_times = simulate(parts.graph());
    for (std::size_t p = 0; p < old_times.points.size(); ++p) {
      CHECK(new_times.points[p] >= old_times.points[p]);
    }
  }
}

TEST_CASE("law: everything times an integer scales every time exactly, times one changes nothing") {
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    CAPTURE(seed);
    const TaskGraph graph = test::random_graph(plain_options_of(seed));
    const Timeline once = simulate(graph);
    for (const std::int64_t factor : {0, 1, 2, 7}) {
      const Timeline scaled =
          simulate(graph.with_weights(test::scale_everything(graph, static_cast<double>(factor))));
      for (std::size_t p = 0; p < once.points.size(); ++p) {
        CHECK(scaled.points[p] == factor * once.points[p]);
      }
    }
    // A condition compares times that scale alike, so it changes nothing; fractions round.
    RandomGraphOptions conditional = options_of(seed);
    conditional.fraction_share = 0;
    const TaskGraph late = test::random_graph(conditional);
    CHECK(simulate(late.with_weights(test::scale_everything(late, 3.0))).span_ns ==
          3 * simulate(late).span_ns);
  }
}

TEST_CASE("law: without conditional lags less work makes nothing later") {
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    CAPTURE(seed);
    RandomGraphOptions options = options_of(seed);
    options.late_share = 0;
    options.negative_share = 0;
    const TaskGraph graph = test::random_graph(options);
    const std::int64_t span = simulate(graph).span_ns;
    std::int64_t previous = 0;
    for (const double factor : {0.0, 0.5, 0.9, 1.0, 2.0}) {
      const std::int64_t now = simulate(graph.with_weights(scale_device(graph, factor))).span_ns;
      CHECK(now >= previous);
      previous = now;
    }
    CHECK(simulate(graph.with_weights(scale_device(graph, 1.0))).span_ns == span);
    CHECK(simulate(graph.with_weights(host_x0(graph))).span_ns <= span);
  }
}

/// Odd lanes (streams) choose by readiness or priority; every kernel demands some of two
/// capacities.
TaskGraph contended(std::uint64_t seed, bool demands) {
  RandomGraphOptions options = options_of(seed);
  options.late_share = 0;
  Parts parts = test::random_parts(options);
  std::mt19937_64 random(seed);
  for (std::size_t lane = 1; lane < parts.context.lanes.size(); lane += 2) {
    parts.context.lanes[lane].policy =
        lane % 4 == 1 ? LanePolicy::ready_order : LanePolicy::priority;
  }
  parts.context.capacities = {{"sm", 1.0}, {"bandwidth", 2.0}};
  for (std::size_t task = 0; task < parts.duration_ns.size(); ++task) {
    const auto id = make_id<TaskId>(task);
    parts.context.priorities.push_back({id, static_cast<std::int32_t>(random() % 3)});
    if (!demands || parts.columns.kind[task] != TaskKind::kernel) {
      continue;
    }
    for (std::uint32_t capacity = 0; capacity < 2; ++capacity) {
      parts.context.demands.push_back({id, capacity, 0.1F + static_cast<float>(random() % 10) / 8});
    }
  }
  return parts.graph();
}

TEST_CASE("law: whatever a lane chooses, one task runs at a time and dependencies hold") {
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    CAPTURE(seed);
    const TaskGraph graph = contended(seed, seed % 2 == 0);
    auto first = simulate_event_driven(graph, {.queue = EventQueueKind::heap});
    auto second = simulate_event_driven(graph, {.queue = EventQueueKind::calendar});
    REQUIRE(first.ok());
    REQUIRE(second.ok());
    const Timeline& timeline = first->timeline;
    CHECK(timeline.points == second->timeline.points);
    std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> busy(
        graph.context().lanes.size());
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const auto task = make_id<TaskId>(i);
      CHECK(timeline.end_ns(task) - timeline.start_ns(task) >= graph.duration_ns(task));
      busy[index(graph.lane_id(task))].emplace_back(timeline.start_ns(task), timeline.end_ns(task));
      for (const Link& d : sources(graph, task)) {
        if (d.on_lane() && graph.lane(task).policy != LanePolicy::program_order) {
          continue;
        }
        const double share = static_cast<double>(d.fraction) *
                             static_cast<double>(graph.duration_ns(task_of(d.source)));
        CHECK(timeline.start_ns(task) >=
              timeline.points[index(d.source)] + d.lag_ns + std::llround(share));
      }
    }
    for (auto& lane : busy) {
      std::sort(lane.begin(), lane.end());
      for (std::size_t i = 1; i < lane.size(); ++i) {
        CHECK(lane[i].first >= lane[i - 1].second);
      }
    }
  }
}

TEST_CASE("law: no capacity is used beyond its size, and all demanded work is done") {
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    CAPTURE(seed);
    const TaskGraph graph = contended(seed, true);
    auto execution = simulate_event_driven(graph);
    REQUIRE(execution.ok());
    std::vector<double> demanded(2, 0.0);
    for (const Demand& demand : graph.context().demands) {
      demanded[demand.capacity] +=
          static_cast<double>(demand.amount) * static_cast<double>(graph.duration_ns(demand.task));
    }
    for (std::size_t capacity = 0; capacity < 2; ++capacity) {
      const double size = graph.context().capacities[capacity].size;
      const auto span = static_cast<double>(execution->timeline.span_ns);
      CHECK(execution->capacity_use[capacity] <= size * span * (1 + 1e-9));
      CHECK(execution->capacity_use[capacity] == doctest::Approx(demanded[capacity]).epsilon(1e-6));
    }
  }
}

}  // namespace
}  // namespace foretrace
