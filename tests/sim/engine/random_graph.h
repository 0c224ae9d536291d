// Random task graphs with lags, anchors and overflow dependencies, and a naive reference engine.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace::test {

struct RandomGraphOptions {
  std::size_t tasks = 1000;
  std::size_t lanes = 8;
  std::uint64_t seed = 1;
  std::size_t window = 64;       ///< a cause lies at most this many tasks before
  double extra_share = 0.3;      ///< tasks with a third dependency
  double overflow_share = 0.05;  ///< tasks with one to three overflow dependencies
  double negative_share = 0.1;   ///< lags below zero (never beyond the source's own duration)
  double start_share = 0.3;      ///< dependencies on starts instead of ends
  double late_share = 0.3;       ///< overflow dependencies that count only if late
  double fraction_share = 0.3;   ///< overflow dependencies on a fraction of a duration
};

/// The parts of a graph while it is put together by hand; task ids must be topological.
struct Parts {
  Topology topology;
  TaskColumns columns;
  GraphContext context;
  std::vector<std::int64_t> duration_ns;
  std::vector<std::int64_t> segment_ns;
  std::vector<std::array<std::int32_t, 2>> lag_ns;
  std::vector<std::int64_t> overflow_lag_ns;

  TaskId add(LaneId lane, TaskKind kind, std::int64_t duration, std::int64_t segment) {
    topology.sources.push_back({no_point, no_point, no_point});
    topology.kinds.push_back({0, 0, 0});
    columns.lane.push_back(lane);
    columns.work.push_back(WorkId{0});
    columns.kind.push_back(kind);
    columns.phase.push_back(Phase::unknown);
    columns.layer.push_back(LayerId{0});
    columns.step.push_back(-1);
    columns.provenance.push_back(Provenance::measured);
    duration_ns.push_back(duration);
    segment_ns.push_back(segment);
    lag_ns.push_back({0, 0});
    return make_id<TaskId>(duration_ns.size() - 1);
  }
  void set(TaskId task, Slot slot, Point source, DependencyKind kind, std::int32_t lag = 0) {
    topology.sources[index(task)][slot] = source;
    topology.kinds[index(task)][slot] = static_cast<std::uint8_t>(kind);
    if (slot != lane_slot) {
      lag_ns[index(task)][slot - 1U] = lag;
    }
  }
  void add_overflow(const OverflowDependency& dependency, std::int64_t lag) {
    topology.overflow.push_back(dependency);
    overflow_lag_ns.push_back(lag);
  }
  [[nodiscard]] Weights weights() const {
    return {.duration_ns = std::make_shared<const std::vector<std::int64_t>>(duration_ns),
            .segment_ns = std::make_shared<const std::vector<std::int64_t>>(segment_ns),
            .lag_ns = std::make_shared<const std::vector<std::array<std::int32_t, 2>>>(lag_ns),
            .overflow_lag_ns = std::make_shared<const std::vector<std::int64_t>>(overflow_lag_ns)};
  }
  /// Fills the forward adjacency from the slots: successor << 2 | slot, by source, then successor.
  void finish() {
    topology.index_overflow();
    const std::size_t tasks = topology.task_count();
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    const auto edge = [&edges](Point source, TaskId task, unsigned slot) {
      if (source == no_point) {
        return;
      }
      edges.emplace_back(static_cast<std::uint32_t>(task_of(source)),
                         static_cast<std::uint32_t>(task) << 2U | slot);
    };
    for (std::size_t t = 0; t < tasks; ++t) {
      for (unsigned slot = 0; slot < 3; ++slot) {
        edge(topology.sources[t][slot], make_id<TaskId>(t), slot);
      }
    }
    for (const OverflowDependency& o : topology.overflow) {
      edge(o.source, o.task, overflow_slot);
    }
    std::sort(edges.begin(), edges.end());
    topology.forward_offsets.assign(tasks + 1, 0);
    topology.forward.clear();
    for (const auto& [source, target] : edges) {
      ++topology.forward_offsets[source + 1];
      topology.forward.push_back(target);
    }
    for (std::size_t t = 0; t < tasks; ++t) {
      topology.forward_offsets[t + 1] += topology.forward_offsets[t];
    }
  }
  /// The graph; call finish() before.
  [[nodiscard]] TaskGraph graph() const {
    GraphContext copy = context;
    if (copy.works.empty()) {
      copy.works.push_back(Work{});
    }
    if (copy.layers.empty()) {
      copy.layers.push_back(Layer{});
    }
    return {std::make_shared<const Topology>(topology),
            std::make_shared<const TaskColumns>(columns),
            std::make_shared<const GraphContext>(std::move(copy)), weights()};
  }
};

/// Host threads are the even lanes, streams the odd ones.
inline Parts random_parts(const RandomGraphOptions& options) {
  std::mt19937_64 random(options.seed);
  const auto below = [&random](std::size_t limit) {
    return static_cast<std::size_t>(random() % std::max<std::size_t>(limit, 1));
  };
  const auto chance = [&random](double share) {
    return static_cast<double>(random() >> 11U) < share * 0x1p53;
  };
  Parts parts;
  std::vector<Point> last(options.lanes, no_point);
  for (std::size_t lane = 0; lane < options.lanes; ++lane) {
    Lane row;
    row.kind = lane % 2 == 0 ? LaneKind::host_thread : LaneKind::stream;
    row.device = lane % 2 == 0 ? no_device : 0;
    row.number = static_cast<std::int64_t>(lane);
    parts.context.lanes.push_back(row);
  }
  const auto source_before = [&](std::size_t task) {
    const std::size_t distance = 1 + below(std::min(options.window, task));
    const auto source = make_id<TaskId>(task - distance);
    return chance(options.start_share) ? start_of(source) : end_of(source);
  };
  const auto lag_after = [&](Point source) {
    const std::int64_t duration = parts.duration_ns[index(task_of(source))];
    if (is_end(source) && chance(options.negative_share)) {
      return -static_cast<std::int32_t>(below(static_cast<std::size_t>(duration) + 1));
    }
    return static_cast<std::int32_t>(below(200));
  };
  for (std::size_t t = 0; t < options.tasks; ++t) {
    const std::size_t lane = below(options.lanes);
    const TaskId task =
        parts.add(make_id<LaneId>(lane), lane % 2 == 0 ? TaskKind::launch : TaskKind::kernel,
                  static_cast<std::int64_t>(below(1000)), static_cast<std::int64_t>(below(100)));
    parts.set(task, lane_slot, last[lane], DependencyKind::program_order);
    last[lane] = end_of(task);
    if (t == 0) {
      continue;
    }
    const Point cause = source_before(t);
    parts.set(task, cause_slot, cause, DependencyKind::launch, lag_after(cause));
    if (chance(options.extra_share)) {
      const Point extra = source_before(t);
      parts.set(task, extra_slot, extra, DependencyKind::event_wait, lag_after(extra));
    }
    if (!chance(options.overflow_share)) {
      continue;
    }
    for (std::size_t i = 0; i <= below(3); ++i) {
      OverflowDependency overflow;
      overflow.task = task;
      overflow.source = source_before(t);
      overflow.kind = DependencyKind::synchronization;
      if (chance(options.late_share)) {
        overflow.late_after = source_before(t);
      }
      if (chance(options.fraction_share)) {
        overflow.source = start_of(task_of(overflow.source));
        overflow.fraction = static_cast<float>(below(100)) / 100.0F;
        overflow.kind = DependencyKind::capacity;
      }
      parts.add_overflow(overflow, static_cast<std::int64_t>(below(300)));
    }
  }
  parts.finish();
  return parts;
}

inline TaskGraph random_graph(const RandomGraphOptions& options) {
  return random_parts(options).graph();
}

/// Straight from the definition, one dependency after the other, no shared code with the engines.
inline Timeline naive_simulate(const Topology& topology, const Weights& weights) {
  const std::size_t tasks = topology.sources.size();
  Timeline timeline;
  timeline.points.assign(2 * tasks, 0);
  for (std::size_t t = 0; t < tasks; ++t) {
    const auto time = [&timeline](Point p) { return timeline.points[index(p)]; };
    const auto& source = topology.sources[t];
    std::int64_t start = 0;
    const std::int64_t lane = source[0] == no_point ? 0 : time(source[0]);
    start = std::max(start, lane + (*weights.segment_ns)[t]);
    for (std::size_t slot = 1; slot < 3; ++slot) {
      if (source[slot] == no_point) {
        continue;
      }
      start = std::max(start, time(source[slot]) + (*weights.lag_ns)[t][slot - 1]);
    }
    for (std::size_t i = 0; i < topology.overflow.size(); ++i) {
      const OverflowDependency& o = topology.overflow[i];
      if (index(o.task) != t) {
        continue;
      }
      if (o.late_after != no_point && time(o.source) <= time(o.late_after)) {
        continue;
      }
      const double share = static_cast<double>(o.fraction) *
                           static_cast<double>((*weights.duration_ns)[index(task_of(o.source))]);
      start = std::max(start, time(o.source) + (*weights.overflow_lag_ns)[i] +
                                  static_cast<std::int64_t>(std::llround(share)));
    }
    timeline.points[2 * t] = start;
    timeline.points[2 * t + 1] = start + (*weights.duration_ns)[t];
    timeline.span_ns = std::max(timeline.span_ns, timeline.points[2 * t + 1]);
  }
  return timeline;
}

}  // namespace foretrace::test
