#include "sim/engine/path/critical_path.h"

#include <algorithm>

#include "sim/core/result.h"
#include "sim/engine/release/release.h"
#include "sim/graph/links.h"

namespace foretrace {
namespace {

/// The dependency that a start was waiting for.
struct Binding {
  Point source = no_point;
  DependencyKind kind = DependencyKind::none;
  PathPart part = PathPart::lag;
  std::int64_t release_ns = engine::never_ns;
  std::int64_t share_ns = 0;  ///< part of the source's duration between its start and the release
};

class PathWalk {
 public:
  PathWalk(const TaskGraph& graph, const Timeline& timeline)
      : graph_(graph), points_(timeline.points.data()) {
    FORETRACE_CHECK(timeline.size() >= graph.size());
  }

  CriticalPath run(const PathWindow& window) {
    TaskId task = window.last == none<TaskId> ? last_task() : window.last;
    std::int64_t at = points_[index(end_of(task))];
    path_.total_ns = at - window.begin_ns;
    begin_ns_ = window.begin_ns;
    add(task, PathPart::duration, DependencyKind::none, points_[index(start_of(task))], at);
    at = points_[index(start_of(task))];
    while (at > begin_ns_) {
      const Binding binding = binding_of(task);
      if (binding.source == no_point) {
        begin_of_path(task, binding, at);
        break;
      }
      at = step(task, binding, at);
      task = task_of(binding.source);
    }
    std::reverse(path_.pieces.begin(), path_.pieces.end());
    return std::move(path_);
  }

 private:
  [[nodiscard]] TaskId last_task() const {
    std::size_t last = 0;
    for (std::size_t task = 1; task < graph_.size(); ++task) {
      if (points_[2 * task + 1] > points_[2 * last + 1]) {
        last = task;
      }
    }
    return make_id<TaskId>(last);
  }

  /// The first dependency with the latest release; without a lane source that may be the origin.
  [[nodiscard]] Binding binding_of(TaskId task) const {
    Binding best;
    best.kind = DependencyKind::program_order;
    best.part = PathPart::segment;
    if (previous_on_lane(graph_, task) == none<TaskId>) best.release_ns = graph_.segment_ns(task);
    for (const Link& link : sources(graph_, task)) {
      const std::int64_t source = points_[index(link.source)];
      if (link.late_after != no_point && source <= points_[index(link.late_after)]) continue;
      const std::int64_t share =
          engine::share_of(link.fraction, graph_.duration_ns(task_of(link.source)));
      const std::int64_t release = engine::add_ns(engine::add_ns(source, link.lag_ns), share);
      if (release <= best.release_ns) continue;
      best = {link.source, link.kind, link.on_lane() ? PathPart::segment : PathPart::lag, release,
              share};
    }
    return best;
  }

  /// Pieces between the source's start and `at`, the start of `task`. Returns the former.
  std::int64_t step(TaskId task, const Binding& binding, std::int64_t at) {
    const TaskId source = task_of(binding.source);
    const std::int64_t start = points_[index(start_of(source))];
    at = unexplained(task, binding, at);
    std::int64_t worked = is_end(binding.source) ? points_[index(binding.source)] : start;
    if (!is_end(binding.source)) {
      worked +=
          std::clamp<std::int64_t>(binding.share_ns, 0, std::max<std::int64_t>(at - start, 0));
    }
    // A negative lag cuts the source's duration short; before its start there is nothing to cut.
    if (at < worked && at >= start) {
      worked = at;
    }
    if (at < start) {
      worked = start;
    }
    add(task, binding.part, binding.kind, worked, at);
    add(source, PathPart::duration, DependencyKind::none, start, worked);
    return start;
  }

  /// Engines with policies start tasks later than their dependencies ask for.
  std::int64_t unexplained(TaskId task, const Binding& binding, std::int64_t at) {
    if (binding.release_ns >= at) return at;
    add(task, PathPart::unexplained, binding.kind, binding.release_ns, at);
    return binding.release_ns;
  }

  void begin_of_path(TaskId task, const Binding& binding, std::int64_t at) {
    at = unexplained(task, binding, at);
    add(task, PathPart::segment, binding.kind, 0, at);
  }

  /// Pieces come latest first; what lies before the window is cut off.
  void add(TaskId task, PathPart part, DependencyKind cause, std::int64_t from, std::int64_t to) {
    if (from < begin_ns_ && to >= from) {
      from = std::min(begin_ns_, to);
    }
    if (from == to || to <= begin_ns_) return;
    path_.pieces.push_back({task, part, cause, from, to - from});
  }

  const TaskGraph& graph_;
  const std::int64_t* points_;
  std::int64_t begin_ns_ = 0;
  CriticalPath path_;
};

/// Recorded gaps and latencies are measured; those of an invented task are as good as the task.
[[nodiscard]] Provenance provenance_of(const TaskGraph& graph, const PathPiece& piece) {
  const Provenance own = graph.provenance(piece.task);
  if (piece.part == PathPart::duration) return own;
  return own == Provenance::assumed ? Provenance::assumed : Provenance::measured;
}

void add_duration(const TaskGraph& graph, const PathPiece& piece, PathShares& shares) {
  const TaskKind kind = graph.kind(piece.task);
  shares.kind_ns[static_cast<std::size_t>(kind)] += piece.duration_ns;
  std::int64_t& resource = is_device(kind) ? shares.device_ns
                           : is_host(kind) ? shares.host_ns
                                           : shares.network_ns;
  resource += piece.duration_ns;
}

[[nodiscard]] PathShares shares_of(const TaskGraph& graph, const std::vector<PathPiece>& pieces) {
  PathShares shares;
  shares.lane_ns.assign(graph.context().lanes.size(), 0);
  for (const PathPiece& piece : pieces) {
    const std::int64_t ns = piece.duration_ns;
    shares.provenance_ns[static_cast<std::size_t>(provenance_of(graph, piece))] += ns;
    switch (piece.part) {
      case PathPart::duration: add_duration(graph, piece, shares); break;
      case PathPart::segment:
        (is_host(graph.kind(piece.task)) ? shares.host_ns : shares.gap_ns) += ns;
        break;
      case PathPart::lag:
        shares.latency_ns += ns;
        shares.cause_ns[static_cast<std::size_t>(piece.cause)] += ns;
        break;
      case PathPart::unexplained: shares.unexplained_ns += ns; break;
    }
    const bool on_lane = piece.part == PathPart::duration || piece.part == PathPart::segment;
    const std::size_t lane = index(graph.lane_id(piece.task));
    if (on_lane && lane < shares.lane_ns.size()) {
      shares.lane_ns[lane] += ns;
    }
  }
  return shares;
}

}  // namespace

std::string_view to_string(PathPart part) {
  switch (part) {
    case PathPart::duration: return "duration";
    case PathPart::segment: return "segment";
    case PathPart::lag: return "lag";
    case PathPart::unexplained: return "unexplained";
  }
  return "?";
}

CriticalPath critical_path(const TaskGraph& graph, const Timeline& timeline,
                           const PathWindow& window) {
  if (graph.size() == 0) {
    return {};
  }
  CriticalPath path = PathWalk(graph, timeline).run(window);
  path.shares = shares_of(graph, path.pieces);
  return path;
}

}  // namespace foretrace
