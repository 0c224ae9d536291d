// Decodes slots and the overflow list, here and nowhere else but in engines that sweep whole
// columns.
#include "sim/graph/links.h"

#include <algorithm>
#include <numeric>

namespace foretrace {

namespace {

Link in_slot(const TaskGraph& graph, TaskId task, std::size_t slot) {
  const std::size_t t = index(task);
  const std::uint8_t stored = graph.topology().kinds[t][slot];
  Link link;
  link.source = graph.topology().sources[t][slot];
  link.task = task;
  link.kind = kind_of(stored);
  link.lag_ns = slot == lane_slot ? graph.segment_ns(task) : (*graph.weights().lag_ns)[t][slot - 1];
  link.slot = static_cast<Slot>(slot);
  link.symbolic = is_symbolic(stored);
  return link;
}

/// True if an entry of the list of those that wait for `call` is a launch by it. Nothing is decoded
/// for that: most of the entries are none.
bool is_launch_by(const Topology& topology, TaskId call, std::uint32_t entry) {
  const auto task = make_id<TaskId>(entry >> 2U);
  const std::uint32_t slot = entry & 3U;
  if (slot != overflow_slot) {
    return kind_of(topology.kinds[index(task)][slot]) == DependencyKind::launch;
  }
  const auto rows = topology.overflow_of(task);
  return std::any_of(rows.begin(), rows.end(), [call](const OverflowDependency& row) {
    return row.kind == DependencyKind::launch && task_of(row.source) == call;
  });
}

Link in_overflow(const TaskGraph& graph, TaskId task, std::size_t row) {
  const OverflowDependency& d = graph.topology().overflow_of(task)[row];
  const auto position = static_cast<std::size_t>(&d - graph.topology().overflow.data());
  Link link;
  link.source = d.source;
  link.task = task;
  link.kind = d.kind;
  link.lag_ns = (*graph.weights().overflow_lag_ns)[position];
  link.fraction = d.fraction;
  link.late_after = d.late_after;
  link.slot = overflow_slot;
  link.symbolic = d.symbolic;
  return link;
}

}  // namespace

Link Sources::Iterator::operator*() const {
  return at_ < overflow_slot ? in_slot(*graph_, task_, at_)
                             : in_overflow(*graph_, task_, at_ - overflow_slot);
}

Link Dependents::Iterator::operator*() const {
  const std::uint32_t entry = graph_->topology().forward[at_];
  const auto successor = make_id<TaskId>(entry >> 2U);
  const std::size_t slot = entry & 3U;
  return slot < overflow_slot ? in_slot(*graph_, successor, slot)
                              : in_overflow(*graph_, successor, row_);
}

/// The nth entry of the forward list for one successor's overflow stands for its nth row from here;
/// rows are sorted by source.
void Dependents::Iterator::find_row() {
  const Topology& topology = graph_->topology();
  const std::uint32_t first = topology.forward_offsets[index(task_)];
  if (at_ == topology.forward_offsets[index(task_) + 1]) return;
  const std::uint32_t entry = topology.forward[at_];
  if ((entry & 3U) != overflow_slot) return;
  if (at_ != first && topology.forward[at_ - 1] == entry) return;  // the row behind the last one
  const auto rows = topology.overflow_of(make_id<TaskId>(entry >> 2U));
  const auto row = std::partition_point(rows.begin(), rows.end(), [&](const auto& overflow) {
    return task_of(overflow.source) < task_;
  });
  row_ = static_cast<std::uint32_t>(row - rows.begin());
}

void LaunchedBy::Iterator::find() {
  const Topology& topology = graph_->topology();
  for (; at_ != end_; ++at_) {
    const std::uint32_t entry = topology.forward[at_];
    const auto task = make_id<TaskId>(entry >> 2U);
    if (task == task_ || !is_launch_by(topology, call_, entry)) continue;
    if (launch_of(*graph_, task) != call_) continue;
    task_ = task;
    return;
  }
}

TaskId LaunchedBy::back() const {
  TaskId last = none<TaskId>;
  for (const TaskId task : *this) last = task;
  return last;
}

TaskId LaunchedBy::only() const {
  TaskId only = none<TaskId>;
  for (const TaskId task : *this) {
    if (only != none<TaskId>) return none<TaskId>;
    only = task;
  }
  return only;
}

namespace {

/// Where the launch of a device task stands: a slot, or behind the slots the row of its overflow.
/// None: -1. Nothing is decoded for it: most kernels have it in one slot of several.
std::ptrdiff_t launch_place(const TaskGraph& graph, TaskId device_task) {
  if (!is_stream_like(graph.lane(device_task).kind)) return -1;
  const Topology& topology = graph.topology();
  const std::size_t t = index(device_task);
  const auto is_launch = [&graph](DependencyKind kind, Point source) {
    return kind == DependencyKind::launch && source != no_point &&
           is_host(graph.kind(task_of(source)));
  };
  for (std::size_t slot = 0; slot < overflow_slot; ++slot) {
    if (is_launch(kind_of(topology.kinds[t][slot]), topology.sources[t][slot])) {
      return static_cast<std::ptrdiff_t>(slot);
    }
  }
  const auto rows = topology.overflow_of(device_task);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (is_launch(rows[row].kind, rows[row].source)) {
      return static_cast<std::ptrdiff_t>(overflow_slot + row);
    }
  }
  return -1;
}

}  // namespace

Link launch_link(const TaskGraph& graph, TaskId device_task) {
  const std::ptrdiff_t place = launch_place(graph, device_task);
  if (place < 0) return {};
  const auto at = static_cast<std::size_t>(place);
  return at < overflow_slot ? in_slot(graph, device_task, at)
                            : in_overflow(graph, device_task, at - overflow_slot);
}

TaskId launch_of(const TaskGraph& graph, TaskId device_task) {
  const std::ptrdiff_t place = launch_place(graph, device_task);
  if (place < 0) return none<TaskId>;
  const auto at = static_cast<std::size_t>(place);
  const Topology& topology = graph.topology();
  return task_of(at < overflow_slot ? topology.sources[index(device_task)][at]
                                    : topology.overflow_of(device_task)[at - overflow_slot].source);
}

TaskId next_on_lane(const TaskGraph& graph, TaskId task) {
  const Topology& topology = graph.topology();
  const std::size_t t = index(task);
  for (std::uint32_t i = topology.forward_offsets[t]; i < topology.forward_offsets[t + 1]; ++i) {
    if ((topology.forward[i] & 3U) == lane_slot) return make_id<TaskId>(topology.forward[i] >> 2U);
  }
  return none<TaskId>;
}

std::vector<TaskId> first_on_lanes(const TaskGraph& graph, LaneKind kind) {
  std::vector<TaskId> first;
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const auto task = make_id<TaskId>(t);
    if (graph.lane(task).kind == kind && previous_on_lane(graph, task) == none<TaskId>) {
      first.push_back(task);
    }
  }
  std::sort(first.begin(), first.end(),
            [&graph](TaskId a, TaskId b) { return graph.lane_id(a) < graph.lane_id(b); });
  return first;
}

TaskId other_half(const TaskGraph& graph, TaskId task) {
  const TaskPart part = graph.work(task).part;
  if (part == TaskPart::whole) return none<TaskId>;
  const bool finish = part == TaskPart::finish;
  const TaskId other = finish ? previous_on_lane(graph, task) : next_on_lane(graph, task);
  if (other == none<TaskId>) return none<TaskId>;
  const TaskPart wanted = finish ? TaskPart::begin : TaskPart::finish;
  return graph.work(other).part == wanted ? other : none<TaskId>;
}

WaitIndex::WaitIndex(const std::vector<Wait>& waits) : rows_(waits.size()) {
  std::iota(rows_.begin(), rows_.end(), 0U);
  std::stable_sort(rows_.begin(), rows_.end(), [&waits](std::uint32_t a, std::uint32_t b) {
    return waits[a].task < waits[b].task;
  });
  tasks_.reserve(rows_.size());
  for (const std::uint32_t row : rows_) tasks_.push_back(waits[row].task);
}

std::span<const std::uint32_t> WaitIndex::of(TaskId task) const {
  const auto [first, last] = std::equal_range(tasks_.begin(), tasks_.end(), task);
  return {rows_.data() + (first - tasks_.begin()), static_cast<std::size_t>(last - first)};
}

bool hands_over(const TaskGraph& graph, TaskId task) {
  const auto is_hand_over = [](const Link& link) { return link.kind == DependencyKind::hand_over; };
  const Sources before = sources(graph, task);
  const Dependents after = dependents(graph, task);
  return std::any_of(before.begin(), before.end(), is_hand_over) ||
         std::any_of(after.begin(), after.end(), is_hand_over);
}

}  // namespace foretrace
