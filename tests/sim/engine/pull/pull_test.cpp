#include "sim/engine/pull/pull.h"

#include <algorithm>
#include <numeric>

#include <doctest/doctest.h>

#include "sim/engine/pull/batch_pass.h"
#include "tests/sim/engine/random_graph.h"

namespace foretrace {
namespace {

using test::Parts;
using test::random_parts;

TEST_CASE("pull: a task starts at the latest of lane, cause and extra, with segment and lags") {
  Parts parts;
  const TaskId a = parts.add(LaneId{0}, TaskKind::launch, 10, 5);   // 5..15
  const TaskId b = parts.add(LaneId{0}, TaskKind::launch, 10, 7);   // 15 + 7 = 22..32
  const TaskId c = parts.add(LaneId{1}, TaskKind::kernel, 100, 1);  // max(0 + 1, 5 + 3) = 8..108
  parts.set(b, lane_slot, end_of(a), DependencyKind::program_order);
  parts.set(c, cause_slot, start_of(a), DependencyKind::launch, 3);
  const TaskId d = parts.add(LaneId{1}, TaskKind::kernel, 1, 2);  // max(110, 32 + 90, 108 - 4)
  parts.set(d, lane_slot, end_of(c), DependencyKind::stream_order);
  parts.set(d, cause_slot, end_of(b), DependencyKind::launch, 90);
  parts.set(d, extra_slot, end_of(c), DependencyKind::event_wait, -4);
  parts.finish();
  Timeline timeline;
  simulate(parts.topology, parts.weights(), timeline);
  CHECK(timeline.points == std::vector<std::int64_t>{5, 15, 22, 32, 8, 108, 122, 123});
  CHECK(timeline.span_ns == 123);
  CHECK(timeline.start_ns(d) == 122);
}

TEST_CASE("pull: an overflow dependency with late_after counts only if its source came later") {
  for (const bool late : {false, true}) {
    CAPTURE(late);
    Parts parts;
    const TaskId host = parts.add(LaneId{0}, TaskKind::synchronization, 10, 0);  // 0..10
    const TaskId kernel = parts.add(LaneId{1}, TaskKind::kernel, late ? 11 : 10, 0);
    const TaskId finish = parts.add(LaneId{0}, TaskKind::synchronization, 0, 0);
    parts.set(finish, lane_slot, end_of(host), DependencyKind::program_order);
    OverflowDependency wait;
    wait.task = finish;
    wait.source = end_of(kernel);
    wait.late_after = end_of(host);
    parts.add_overflow(wait, 5);
    parts.finish();
    Timeline timeline;
    simulate(parts.topology, parts.weights(), timeline);
    CHECK(timeline.start_ns(finish) == (late ? 16 : 10));
  }
}

TEST_CASE("pull: a fraction adds that share of the source's duration, rounded half up") {
  Parts parts;
  const TaskId a = parts.add(LaneId{0}, TaskKind::kernel, 101, 4);  // 4..105
  const TaskId b = parts.add(LaneId{1}, TaskKind::kernel, 1, 0);
  OverflowDependency capacity;
  capacity.task = b;
  capacity.source = start_of(a);
  capacity.fraction = 0.5F;
  parts.add_overflow(capacity, 1);
  parts.finish();
  Timeline timeline;
  simulate(parts.topology, parts.weights(), timeline);
  CHECK(timeline.start_ns(b) == 4 + 1 + 51);  // 50.5 rounds to 51
}

TEST_CASE("pull: no task starts before time 0") {
  Parts parts;
  parts.add(LaneId{0}, TaskKind::host, 10, -50);
  parts.finish();
  Timeline timeline;
  simulate(parts.topology, parts.weights(), timeline);
  CHECK(timeline.points == std::vector<std::int64_t>{0, 10});
}

TEST_CASE("pull: an empty graph has span 0") {
  Parts parts;
  parts.finish();
  Timeline timeline;
  timeline.span_ns = 7;
  timeline.points.assign(4, 1);
  simulate(parts.topology, parts.weights(), timeline);
  CHECK(timeline.span_ns == 0);
  CHECK(timeline.size() == 0);
  CHECK(simulate_batch_spans(parts.topology, std::vector<Weights>(3, parts.weights())) ==
        std::vector<std::int64_t>{0, 0, 0});
}

TEST_CASE("pull: equals the definition on random graphs") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const Parts parts = random_parts({.tasks = 50 * seed, .lanes = 1 + seed % 7, .seed = seed});
    Timeline timeline;
    simulate(parts.topology, parts.weights(), timeline);
    const Timeline expected = test::naive_simulate(parts.topology, parts.weights());
    CHECK(timeline.points == expected.points);
    CHECK(timeline.span_ns == expected.span_ns);
  }
}

TEST_CASE("pull: weights that do not fit the topology are a broken invariant") {
  Parts parts = random_parts({.tasks = 10});
  Weights weights = parts.weights();
  weights.duration_ns = std::make_shared<const std::vector<std::int64_t>>(9);
  Timeline timeline;
  CHECK_THROWS_AS(simulate(parts.topology, weights, timeline), std::logic_error);
}

/// Variants that share or vary each column, so that every kernel of the batch runs.
std::vector<Weights> variants_of(const Parts& parts, std::size_t count, unsigned varied) {
  std::vector<Weights> variants;
  const Weights base = parts.weights();
  for (std::size_t v = 0; v < count; ++v) {
    Parts changed = parts;
    for (auto& duration : changed.duration_ns) {
      duration = duration * 3 / (1 + static_cast<std::int64_t>(v));
    }
    for (auto& segment : changed.segment_ns) {
      segment += static_cast<std::int64_t>(v);
    }
    for (auto& lag : changed.lag_ns) {
      lag[v % 2] += static_cast<std::int32_t>(v);
    }
    for (auto& lag : changed.overflow_lag_ns) {
      lag += 2 * static_cast<std::int64_t>(v);
    }
    const Weights all = changed.weights();
    Weights variant = base;
    if ((varied & 1U) != 0) {
      variant.duration_ns = all.duration_ns;
    }
    if ((varied & 2U) != 0) {
      variant.segment_ns = all.segment_ns;
    }
    if ((varied & 4U) != 0) {
      variant.lag_ns = all.lag_ns;
    }
    if ((varied & 8U) != 0) {
      variant.overflow_lag_ns = all.overflow_lag_ns;
    }
    variants.push_back(variant);
  }
  return variants;
}

TEST_CASE("batch: every variant has the times of its own simulation, whatever is shared") {
  const Parts parts = random_parts({.tasks = 777, .lanes = 5, .seed = 3, .overflow_share = 0.1});
  for (unsigned varied = 0; varied < 16; ++varied) {
    for (const std::size_t count : {1U, 7U, 8U, 19U}) {
      CAPTURE(varied);
      CAPTURE(count);
      const std::vector<Weights> variants = variants_of(parts, count, varied);
      const std::vector<Timeline> batch = simulate_batch(parts.topology, variants);
      const std::vector<std::int64_t> spans = simulate_batch_spans(parts.topology, variants);
      REQUIRE(batch.size() == count);
      REQUIRE(spans.size() == count);
      for (std::size_t v = 0; v < count; ++v) {
        Timeline single;
        simulate(parts.topology, variants[v], single);
        CHECK(batch[v].points == single.points);
        CHECK(batch[v].span_ns == single.span_ns);
        CHECK(spans[v] == single.span_ns);
      }
    }
  }
}

TEST_CASE("batch: every instruction set gives the same spans") {
  const Parts parts = random_parts({.tasks = 1001, .lanes = 5, .seed = 9, .overflow_share = 0.1});
  for (unsigned varied = 0; varied < 16; ++varied) {
    const std::vector<Weights> variants = variants_of(parts, 11, varied);
    const auto expected = engine::batch_spans(parts.topology, variants, engine::Simd::portable);
    for (const engine::Simd simd : engine::supported_simd()) {
      CAPTURE(static_cast<int>(simd));
      CHECK(engine::batch_spans(parts.topology, variants, simd) == expected);
    }
  }
}

TEST_CASE("batch: sources that left the ring long ago are kept for those who still read them") {
  Parts parts = random_parts({.tasks = 6000, .lanes = 4, .seed = 5, .window = 50});
  // Rare reads from far away: starts and ends, in slots and in the overflow list.
  for (std::size_t task = 4000; task < 6000; task += 397) {
    parts.set(make_id<TaskId>(task), cause_slot, start_of(make_id<TaskId>(task - 3900)),
              DependencyKind::queue, 1'000'000);
    OverflowDependency overflow;
    overflow.task = make_id<TaskId>(task + 1);
    overflow.source = end_of(make_id<TaskId>(task - 3000));
    overflow.late_after = end_of(make_id<TaskId>(7));
    parts.add_overflow(overflow, 1'200'000);
  }
  std::vector<std::size_t> order(parts.topology.overflow.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&parts](std::size_t a, std::size_t b) {
    return parts.topology.overflow[a].task < parts.topology.overflow[b].task;
  });
  Parts sorted = parts;
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted.topology.overflow[i] = parts.topology.overflow[order[i]];
    sorted.overflow_lag_ns[i] = parts.overflow_lag_ns[order[i]];
  }
  sorted.finish();
  const engine::PointWindow window = engine::point_window(sorted.topology, 64);
  CHECK(window.ring_points < 2000);
  CHECK(window.far_points.size() >= 10);
  for (const unsigned varied : {0U, 1U, 15U}) {
    const std::vector<Weights> variants = variants_of(sorted, 8, varied);
    const std::vector<Timeline> batch = simulate_batch(sorted.topology, variants);
    for (std::size_t v = 0; v < variants.size(); ++v) {
      const Timeline expected = test::naive_simulate(sorted.topology, variants[v]);
      CHECK(batch[v].points == expected.points);
      CHECK(batch[v].span_ns == expected.span_ns);
    }
  }
}

}  // namespace
}  // namespace foretrace
