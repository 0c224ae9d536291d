// Event-driven engine: when a task may start, and what becomes known with every point.
#include <algorithm>

#include "sim/engine/event/event_run.h"
#include "sim/engine/release/release.h"

namespace foretrace::engine {
bool EventRun::honours(std::size_t task, std::size_t slot) const {
  const Point source = topology_.sources[task][slot];
  if (source == no_point) return false;
  if (slot != lane_slot) return !(call_time_ && is_symbolic(topology_.kinds[task][slot]));
  if (!lanes_[index(graph_.columns().lane[task])].ordered) return false;
  // The order of a stream is that of the calls.
  return !(call_time_ && is_stream(graph_.columns().lane[task]));
}

// Points do not move once they are known: what they allow is worked out once, and then kept. A
// policy that puts task after task in front of one would otherwise ask for all of them every time.
std::int64_t EventRun::extra_release_ns(TaskId task) {
  std::int64_t& latest = extra_latest_ns_[index(task)];
  FORETRACE_CHECK(open_[index(task)] == 0);
  for (std::uint32_t at = first_extra_[index(task)]; at != 0; at = extras_[at - 1].next) {
    const Dependency& d = extras_[at - 1].dependency;
    const std::int64_t source = points()[index(d.source)];
    if (d.late_after != no_point && source <= points()[index(d.late_after)]) continue;
    const std::int64_t share = share_of(d.fraction, duration_ns(task_of(d.source)));
    latest = std::max(latest, add_ns(add_ns(source, d.lag_ns), share));
  }
  first_extra_[index(task)] = 0;
  return latest;
}

std::int64_t EventRun::release_ns(TaskId task) {
  std::int64_t latest = std::max<std::int64_t>(0, extra_release_ns(task));
  const bool ordered = lanes_[index(lane_id(task))].ordered;
  if (ordered) {
    latest = std::max(latest, segment_ns(task));
  }
  if (index(task) >= static_tasks_) {
    return std::max(latest, add_ns(appended_at_ns_[index(task) - static_tasks_], segment_ns(task)));
  }
  const auto& sources = topology_.sources[index(task)];
  const auto& lags = (*graph_.weights().lag_ns)[index(task)];
  if (honours(index(task), lane_slot)) {
    latest = std::max(latest, add_ns(points()[index(sources[lane_slot])], segment_ns(task)));
  }
  for (const std::size_t slot : {cause_slot, extra_slot}) {
    if (!honours(index(task), slot)) continue;
    latest = std::max(latest, add_ns(points()[index(sources[slot])], lags[slot - 1]));
  }
  for (const OverflowDependency& row : topology_.overflow_of(task)) {
    if (call_time_ && row.symbolic) continue;
    const auto position = static_cast<std::size_t>(&row - topology_.overflow.data());
    latest =
        std::max(latest, overflow_release(row, (*graph_.weights().overflow_lag_ns)[position],
                                          points().data(), graph_.weights().duration_ns->data()));
  }
  return latest;
}

void EventRun::close(TaskId task) {
  FORETRACE_CHECK(open_[index(task)] > 0);
  if (--open_[index(task)] == 0) {
    push(release_ns(task), task, Happens::ready);
  }
}

/// The nth forward entry of a source to one task stands for its nth overflow row from there.
void EventRun::close_overflow(TaskId source, Point point, TaskId task, std::size_t nth) {
  for (const OverflowDependency& row : topology_.overflow_of(task)) {
    if (row.source == no_point || task_of(row.source) != source || nth-- != 0) continue;
    if (row.source == point && !(call_time_ && row.symbolic)) {
      close(task);
    }
    return;
  }
}

/// A point is known: every dependency on it is settled.
void EventRun::close_edges(TaskId source, Point point) {
  if (index(source) < static_tasks_) {
    std::uint32_t previous = UINT32_MAX;
    std::size_t nth = 0;
    const auto& offsets = topology_.forward_offsets;
    for (std::uint32_t at = offsets[index(source)]; at < offsets[index(source) + 1]; ++at) {
      const std::uint32_t edge = topology_.forward[at];
      const TaskId task{edge >> 2U};
      const std::size_t slot = edge & 3U;
      nth = edge == previous ? nth + 1 : 0;
      previous = edge;
      if (slot == overflow_slot) {
        close_overflow(source, point, task, nth);
      } else if (topology_.sources[index(task)][slot] == point && honours(index(task), slot)) {
        close(task);
      }
    }
    for (const LateEdge& edge : late_.of(source)) {
      if (edge.source == point) {
        close(edge.task);
      }
    }
  }
  for (std::uint32_t at = first_waiter_[index(source)]; at != 0;) {
    const Waiter waiter = waiters_[at - 1];
    if (waiter.point == point) {
      close(waiter.task);
    }
    at = waiter.next;
  }
}

}  // namespace foretrace::engine
