// What each group of the critical path could give: the graph simulated without its time.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "sim/engine/path/critical_path.h"
#include "sim/engine/pull/pull.h"

namespace foretrace {
namespace {

/// A group of pieces: what it is part of, and a name, kind, layer, lane or cause.
using GroupKey = std::pair<PathPart, std::uint32_t>;

[[nodiscard]] std::uint32_t duration_key(const TaskGraph& graph, TaskId task,
                                         PathGrouping grouping) {
  switch (grouping) {
    case PathGrouping::name: return static_cast<std::uint32_t>(graph.work(task).name);
    case PathGrouping::kind: return static_cast<std::uint32_t>(graph.kind(task));
    case PathGrouping::layer: return static_cast<std::uint32_t>(graph.layer(task));
  }
  return 0;
}

[[nodiscard]] GroupKey key_of(const TaskGraph& graph, const PathPiece& piece,
                              PathGrouping grouping) {
  switch (piece.part) {
    case PathPart::duration: return {piece.part, duration_key(graph, piece.task, grouping)};
    case PathPart::segment:
      return {piece.part, static_cast<std::uint32_t>(graph.lane_id(piece.task))};
    case PathPart::lag: return {piece.part, static_cast<std::uint32_t>(piece.cause)};
    case PathPart::unexplained: break;
  }
  return {piece.part, 0};
}

[[nodiscard]] std::string duration_label(const TaskGraph& graph, std::uint32_t key,
                                         PathGrouping grouping) {
  switch (grouping) {
    case PathGrouping::name: return std::string(graph.names()[NameId{key}]);
    case PathGrouping::kind: return std::string(to_string(static_cast<TaskKind>(key)));
    case PathGrouping::layer:
      return key == 0 ? "no layer" : std::string(graph.names()[graph.context().layers[key].name]);
  }
  return "?";
}

/// Whether the lanes are of several ranks. Lanes below rank 0 belong to no one rank.
[[nodiscard]] bool has_ranks(const TaskGraph& graph) {
  std::int32_t first = -1;
  for (const Lane& lane : graph.context().lanes) {
    if (lane.rank >= 0 && first >= 0 && lane.rank != first) return true;
    first = lane.rank >= 0 ? lane.rank : first;
  }
  return false;
}

[[nodiscard]] std::string label_of(const TaskGraph& graph, const GroupKey& key,
                                   PathGrouping grouping) {
  if (key.first == PathPart::duration) return duration_label(graph, key.second, grouping);
  if (key.first == PathPart::unexplained) return "policy or contention";
  if (key.first == PathPart::lag) {
    return std::string(to_string(static_cast<DependencyKind>(key.second))) + " latency";
  }
  const Lane& lane = graph.context().lanes[key.second];
  const bool host = lane.kind == LaneKind::host_thread || lane.kind == LaneKind::origin;
  const std::string rank =
      has_ranks(graph) ? "rank " + std::to_string(lane.rank) + ": " : std::string();
  std::string name = lane.name.empty() ? std::to_string(lane.number) : lane.name;
  if (!lane.name.empty()) return rank + (host ? "host time of " : "gaps of ") + name;
  return rank + (host ? "host time of thread " : "gaps of stream ") + name;
}

[[nodiscard]] std::size_t drop_durations(const TaskGraph& graph, std::uint32_t key,
                                         PathGrouping grouping, Weights& weights) {
  auto durations = std::make_shared<std::vector<std::int64_t>>(*weights.duration_ns);
  std::size_t tasks = 0;
  for (std::size_t task = 0; task < graph.size(); ++task) {
    if (duration_key(graph, make_id<TaskId>(task), grouping) != key) continue;
    (*durations)[task] = 0;
    ++tasks;
  }
  weights.duration_ns = std::move(durations);
  return tasks;
}

[[nodiscard]] std::size_t drop_segments(const TaskGraph& graph, LaneId lane, Weights& weights) {
  auto segments = std::make_shared<std::vector<std::int64_t>>(*weights.segment_ns);
  std::size_t tasks = 0;
  for (std::size_t task = 0; task < graph.size(); ++task) {
    if (graph.lane_id(make_id<TaskId>(task)) != lane) continue;
    (*segments)[task] = 0;
    ++tasks;
  }
  weights.segment_ns = std::move(segments);
  return tasks;
}

/// Only latencies: a negative lag or a share of a duration is no time that could be saved.
[[nodiscard]] std::size_t drop_lags(const TaskGraph& graph, DependencyKind kind, Weights& weights) {
  const Topology& topology = graph.topology();
  auto lags = std::make_shared<std::vector<std::array<std::int32_t, 2>>>(*weights.lag_ns);
  auto overflow = std::make_shared<std::vector<std::int64_t>>(*weights.overflow_lag_ns);
  std::size_t dependencies = 0;
  for (std::size_t task = 0; task < graph.size(); ++task) {
    for (const std::size_t slot : {cause_slot, extra_slot}) {
      if (topology.sources[task][slot] == no_point) continue;
      if (kind_of(topology.kinds[task][slot]) != kind) continue;
      std::int32_t& lag = (*lags)[task][slot - 1];
      lag = std::min(lag, 0);
      ++dependencies;
    }
  }
  for (std::size_t row = 0; row < overflow->size(); ++row) {
    if (topology.overflow[row].kind != kind) continue;
    (*overflow)[row] = std::min<std::int64_t>((*overflow)[row], 0);
    ++dependencies;
  }
  weights.lag_ns = std::move(lags);
  weights.overflow_lag_ns = std::move(overflow);
  return dependencies;
}

/// The weights without a group's time; says how many tasks (or dependencies) that touches.
[[nodiscard]] Weights without(const TaskGraph& graph, const GroupKey& key, PathGrouping grouping,
                              std::size_t& tasks) {
  Weights weights = graph.weights();
  switch (key.first) {
    case PathPart::duration: tasks = drop_durations(graph, key.second, grouping, weights); break;
    case PathPart::segment: tasks = drop_segments(graph, LaneId{key.second}, weights); break;
    case PathPart::lag:
      tasks = drop_lags(graph, static_cast<DependencyKind>(key.second), weights);
      break;
    case PathPart::unexplained: break;
  }
  return weights;
}

/// The time to be shortened, per variant.
[[nodiscard]] std::vector<std::int64_t> measure(const TaskGraph& graph,
                                                const std::vector<Weights>& variants,
                                                const GainOptions& options) {
  if (options.measure) return options.measure(variants);
  if (options.from == no_point && options.to == no_point) {
    return simulate_batch_spans(graph.topology(), variants);
  }
  std::vector<std::int64_t> times;
  for (const Timeline& timeline : simulate_batch(graph.topology(), variants)) {
    const std::int64_t from = options.from == no_point ? 0 : timeline.points[index(options.from)];
    const std::int64_t to =
        options.to == no_point ? timeline.span_ns : timeline.points[index(options.to)];
    times.push_back(to - from);
  }
  return times;
}

/// The weights without any host (or any device) time.
[[nodiscard]] Weights without_all(const TaskGraph& graph, bool host) {
  Weights weights = graph.weights();
  auto durations = std::make_shared<std::vector<std::int64_t>>(*weights.duration_ns);
  auto segments = std::make_shared<std::vector<std::int64_t>>(*weights.segment_ns);
  for (std::size_t task = 0; task < graph.size(); ++task) {
    if (is_host(graph.kind(make_id<TaskId>(task))) == host) {
      (*durations)[task] = 0;
      (*segments)[task] = 0;
    }
  }
  weights.duration_ns = std::move(durations);
  weights.segment_ns = std::move(segments);
  return weights;
}

/// What a group is part of: host time, time of the device and the network, or both.
struct Parts {
  bool host = false;
  bool device = false;
};

/// Times of the graph: as it is, without host time, without device time, without each group.
struct Times {
  std::int64_t now_ns = 0;
  std::int64_t without_host_ns = 0;
  std::int64_t without_device_ns = 0;

  /// Two that are each shorter may simulate to a longer step in rare cases: waits differ.
  [[nodiscard]] std::int64_t gain_ns(std::int64_t without_ns, const Parts& parts) const {
    const std::int64_t gain = std::max<std::int64_t>(0, now_ns - without_ns);
    if (parts.host == parts.device) return gain;
    const std::int64_t all = now_ns - (parts.host ? without_host_ns : without_device_ns);
    return std::min(gain, std::max<std::int64_t>(0, all));
  }
};

[[nodiscard]] bool is_latency(PathPart part) {
  return part == PathPart::lag || part == PathPart::unexplained;
}

}  // namespace

std::vector<PathGroup> path_gains(const TaskGraph& graph, const CriticalPath& path,
                                  const GainOptions& options) {
  std::map<GroupKey, PathGroup> found;
  std::map<GroupKey, Parts> parts;
  for (const PathPiece& piece : path.pieces) {
    const GroupKey key = key_of(graph, piece, options.grouping);
    PathGroup& group = found[key];
    const bool host = is_host(graph.kind(piece.task));
    parts[key].host = parts[key].host || host || is_latency(piece.part);
    parts[key].device = parts[key].device || !host || is_latency(piece.part);
    group.part = piece.part;
    group.on_path_ns += piece.duration_ns;
    ++group.pieces;
  }
  std::vector<std::pair<GroupKey, PathGroup>> groups(found.begin(), found.end());
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.second.on_path_ns > b.second.on_path_ns;
  });
  groups.resize(std::min(groups.size(), options.count));
  std::vector<Weights> variants{graph.weights(), without_all(graph, true),
                                without_all(graph, false)};
  for (auto& [key, group] : groups) {
    group.label = label_of(graph, key, options.grouping);
    variants.push_back(without(graph, key, options.grouping, group.tasks));
  }
  const std::vector<std::int64_t> times = measure(graph, variants, options);
  const Times reference{times[0], times[1], times[2]};
  std::vector<PathGroup> result;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i].second.gain_ns = reference.gain_ns(times[i + 3], parts[groups[i].first]);
    result.push_back(std::move(groups[i].second));
  }
  return result;
}

}  // namespace foretrace
