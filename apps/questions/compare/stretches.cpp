#include "apps/questions/compare/stretches.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "sim/graph/links.h"
#include "sim/result/activity.h"

namespace foretrace {
namespace {

Use use_of(Activity activity) {
  switch (activity) {
    case Activity::compute: return Use::compute;
    case Activity::transfer: return Use::communication;
    case Activity::waiting: return Use::waiting;
    case Activity::copy: return Use::copy;
    case Activity::host: return Use::host;
  }
  return Use::idle;
}

/// A claim on the time from one moment to another.
struct Claim {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  Use use = Use::idle;
  TaskId task{};
  NameId label{};
};

/// Every claim of one rank inside a window.
class Claims {
 public:
  Claims(const TaskGraph& graph, const Timeline& timeline, const Window& window)
      : graph_(graph), timeline_(timeline), window_(window), launches_(launching_lanes(graph)) {}

  std::vector<Claim> collect() {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const auto task = make_id<TaskId>(i);
      if (graph_.lane(task).rank != window_.rank) continue;
      const bool on_device = is_device(graph_.kind(task));
      if (window_.step >= 0 && !(on_device && graph_.step(task) == window_.step)) continue;
      if (is_host(graph_.kind(task))) {
        add_host(task);
      } else {
        add_device(task);
      }
    }
    return std::move(claims_);
  }

 private:
  void add(Claim claim) {
    claim.from_ns = std::max(claim.from_ns, window_.begin_ns);
    claim.to_ns = std::min(claim.to_ns, window_.end_ns);
    if (claim.from_ns < claim.to_ns) claims_.push_back(claim);
  }

  void add_device(TaskId task) {
    for (const ActivitySpan& span : device_activities(graph_, timeline_, task)) {
      add({span.from_ns, span.to_ns, use_of(span.activity), task, {}});
    }
  }

  /// A thread works during its segments and calls; in between it waits. Parts of a segment count
  /// from its end.
  void add_host(TaskId task) {
    if (!launches_[index(graph_.lane_id(task))]) return;
    const ActivitySpan segment = segment_activity(graph_, timeline_, task);
    const std::int64_t from = segment.from_ns;
    std::int64_t to = segment.to_ns;
    add({timeline_.start_ns(task), timeline_.end_ns(task), Use::host, task,
         graph_.work(task).name});
    const std::vector<SegmentPart>& parts = graph_.context().segment_parts;
    auto part = std::upper_bound(parts.begin(), parts.end(), task,
                                 [](TaskId id, const SegmentPart& p) { return id < p.task; });
    while (part != parts.begin() && (--part)->task == task && to > from) {
      const std::int64_t begin = std::max(from, to - part->duration_ns);
      add({begin, to, Use::host, task, part->label});
      to = begin;
    }
    add({from, to, Use::host, task, {}});
  }

  const TaskGraph& graph_;
  const Timeline& timeline_;
  const Window& window_;
  std::vector<bool> launches_;
  std::vector<Claim> claims_;
};

/// Gives every instant to the first claim that applies.
std::vector<Stretch> settled(const std::vector<Claim>& claims, const Window& window) {
  struct Edge {
    std::int64_t time_ns = 0;
    std::uint32_t claim = 0;
    bool begins = false;
  };
  std::vector<Edge> edges;
  edges.reserve(2 * claims.size());
  for (std::uint32_t i = 0; i < claims.size(); ++i) {
    edges.push_back({claims[i].from_ns, i, true});
    edges.push_back({claims[i].to_ns, i, false});
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.time_ns < b.time_ns; });
  std::array<std::set<std::uint32_t>, use_count> active;
  std::vector<Stretch> stretches;
  std::int64_t at = window.begin_ns;
  const auto add = [&](std::int64_t until) {
    if (until <= at) return;
    Stretch stretch{at, until, Use::idle, none<TaskId>, {}};
    const auto* const first = std::find_if(active.begin(), active.end(),
                                           [](const auto& claiming) { return !claiming.empty(); });
    if (first != active.end()) {
      const Claim& claim = claims[*first->begin()];
      stretch = {at, until, claim.use, claim.task, claim.label};
    }
    if (!stretches.empty() && stretches.back().use == stretch.use &&
        stretches.back().task == stretch.task && stretches.back().label == stretch.label) {
      stretches.back().end_ns = until;
    } else {
      stretches.push_back(stretch);
    }
    at = until;
  };
  for (const Edge& edge : edges) {
    add(edge.time_ns);
    auto& claiming = active[static_cast<std::size_t>(claims[edge.claim].use)];
    if (edge.begins) {
      claiming.insert(edge.claim);
    } else {
      claiming.erase(edge.claim);
    }
  }
  add(window.end_ns);
  return stretches;
}

}  // namespace

std::string_view to_string(Use use) {
  switch (use) {
    case Use::compute: return "device computes";
    case Use::communication: return "exposed communication";
    case Use::waiting: return "waiting for late ranks";
    case Use::copy: return "device copies";
    case Use::host: return "device waits for the host";
    case Use::idle: return "latencies and gaps";
  }
  return "?";
}

std::vector<Stretch> stretches_of(const TaskGraph& graph, const Timeline& timeline,
                                  const Window& window) {
  return settled(Claims(graph, timeline, window).collect(), window);
}

std::int32_t late_rank(const TaskGraph& graph, const Timeline& timeline, TaskId finish) {
  for (const Link& link : sources(graph, finish)) {
    if (link.kind != DependencyKind::rendezvous) continue;
    TaskId last = none<TaskId>;
    for (const Link& arrival : sources(graph, task_of(link.source))) {
      const TaskId begin = task_of(arrival.source);
      if (arrival.kind != DependencyKind::rendezvous) continue;
      if (last == none<TaskId> || timeline.end_ns(begin) > timeline.end_ns(last)) last = begin;
    }
    if (last != none<TaskId>) return graph.lane(last).rank;
  }
  return -1;
}

}  // namespace foretrace
