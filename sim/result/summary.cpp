#include "sim/result/summary.h"

#include <algorithm>
#include <utility>

#include "sim/core/result.h"
#include "sim/result/activity.h"

namespace foretrace {
namespace {

struct Edge {
  std::int64_t time_ns = 0;
  Activity activity = Activity::compute;
  std::int32_t change = 0;  ///< +1 begins, -1 ends
};

class Sweep {
 public:
  Sweep(const TaskGraph& graph, const Timeline& timeline, const Window& window)
      : graph_(graph), timeline_(timeline), window_(window), launches_(launching_lanes(graph)) {
    FORETRACE_CHECK(timeline.size() >= graph.size());
    summary_.lane_busy_ns.assign(graph.context().lanes.size(), 0);
  }

  Summary run() {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const auto task = make_id<TaskId>(i);
      const Lane& lane = graph_.lane(task);
      if (lane.rank != window_.rank) continue;
      const bool other_device =
          window_.device != no_device && lane.device != no_device && lane.device != window_.device;
      const bool other_step =
          window_.step >= 0 && !(is_device(graph_.kind(task)) && graph_.step(task) == window_.step);
      if (!other_device && !other_step) {
        add_task(task);
      }
    }
    count_edges();
    return std::move(summary_);
  }

 private:
  void add_task(TaskId task) {
    const TaskKind kind = graph_.kind(task);
    const std::int64_t inside = clipped(timeline_.start_ns(task), timeline_.end_ns(task));
    summary_.lane_busy_ns[index(graph_.lane_id(task))] += inside;
    summary_.kind_ns[static_cast<std::size_t>(kind)] += inside;
    if (is_host(kind)) {
      add_host(task);
      return;
    }
    if (is_device(kind)) {
      summary_.phase_device_ns[static_cast<std::size_t>(graph_.phase(task))] += inside;
    }
    for (const ActivitySpan& span : device_activities(graph_, timeline_, task)) add(span);
  }

  /// A thread works during its segments and calls; in between it waits.
  void add_host(TaskId task) {
    if (!launches_[index(graph_.lane_id(task))]) return;
    add(segment_activity(graph_, timeline_, task));
    add({Activity::host, timeline_.start_ns(task), timeline_.end_ns(task)});
  }

  void add(const ActivitySpan& span) {
    const std::int64_t from = std::max(span.from_ns, window_.begin_ns);
    const std::int64_t to = std::min(span.to_ns, window_.end_ns);
    if (from >= to) return;
    edges_.push_back({from, span.activity, 1});
    edges_.push_back({to, span.activity, -1});
  }

  [[nodiscard]] std::int64_t clipped(std::int64_t from, std::int64_t to) const {
    return std::max<std::int64_t>(0,
                                  std::min(to, window_.end_ns) - std::max(from, window_.begin_ns));
  }

  void count_edges() {
    std::sort(edges_.begin(), edges_.end(),
              [](const Edge& a, const Edge& b) { return a.time_ns < b.time_ns; });
    std::array<std::int32_t, activity_count> active{};
    std::int64_t at = window_.begin_ns;
    for (const Edge& edge : edges_) {
      count(active, edge.time_ns - at);
      at = edge.time_ns;
      active[static_cast<std::size_t>(edge.activity)] += edge.change;
    }
    count(active, std::max(at, window_.end_ns) - at);
  }

  void count(const std::array<std::int32_t, activity_count>& active, std::int64_t ns) {
    const auto is = [&active](Activity activity) {
      return active[static_cast<std::size_t>(activity)] > 0;
    };
    Breakdown& breakdown = summary_.breakdown;
    const bool communicates = is(Activity::transfer) || is(Activity::waiting);
    if (communicates || is(Activity::compute) || is(Activity::copy)) {
      summary_.device_busy_ns += ns;
    }
    if (is(Activity::compute)) {
      breakdown.compute_ns += ns;
      if (communicates) {
        breakdown.communication_overlapped_ns += ns;
      }
    } else if (is(Activity::transfer)) {
      breakdown.communication_exposed_ns += ns;
    } else if (is(Activity::waiting)) {
      breakdown.communication_waiting_ns += ns;
    } else if (is(Activity::copy)) {
      breakdown.memory_copy_ns += ns;
    } else if (is(Activity::host)) {
      breakdown.host_bound_ns += ns;
    } else {
      breakdown.idle_ns += ns;
    }
  }

  const TaskGraph& graph_;
  const Timeline& timeline_;
  const Window& window_;
  std::vector<bool> launches_;
  std::vector<Edge> edges_;
  Summary summary_;
};

}  // namespace

Summary summarize(const TaskGraph& graph, const Timeline& timeline, const Window& window) {
  return Sweep(graph, timeline, window).run();
}

Window step_window(const TaskGraph& graph, const Timeline& timeline, const Step& step) {
  FORETRACE_CHECK(index(step.begin) < graph.size() && index(step.end) < graph.size());
  return {timeline.start_ns(step.begin), timeline.start_ns(step.end), step.rank, no_device, -1};
}

}  // namespace foretrace
