// Who waits for whom: the one way to read the dependencies of a graph, task by task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "sim/graph/task_graph.h"

namespace foretrace {

/// A dependency as the graph holds it. The order of a lane is one, too: its lag is the segment.
struct Link : Dependency {
  Slot slot = lane_slot;
  bool symbolic = false;  ///< a resolved Wait or launch queue

  /// The order of the lane, which nobody stated.
  [[nodiscard]] bool on_lane() const { return slot == lane_slot; }
  /// Without where the graph holds it: what an edit states anew for another task.
  [[nodiscard]] const Dependency& dependency() const { return *this; }
};

/// What one task waits for: its lane first, then the other slots, then the overflow list.
class Sources {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Link;
    using difference_type = std::ptrdiff_t;
    using pointer = const Link*;
    using reference = Link;

    Iterator(const TaskGraph& graph, TaskId task, std::size_t at)
        : graph_(&graph), task_(task), at_(at) {
      skip_empty();
    }
    [[nodiscard]] Link operator*() const;
    Iterator& operator++() {
      ++at_;
      skip_empty();
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    void skip_empty() {
      const auto& slots = graph_->topology().sources[index(task_)];
      while (at_ < overflow_slot && slots[at_] == no_point) ++at_;
    }

    const TaskGraph* graph_;
    TaskId task_{};
    std::size_t at_ = 0;  // the slot; then overflow_slot + a row of the task's overflow
  };

  Sources(const TaskGraph& graph, TaskId task) : graph_(&graph), task_(task) {}
  [[nodiscard]] Iterator begin() const { return {*graph_, task_, 0}; }
  [[nodiscard]] Iterator end() const {
    return {*graph_, task_, overflow_slot + graph_->topology().overflow_of(task_).size()};
  }

 private:
  const TaskGraph* graph_;
  TaskId task_{};
};

/// Who waits for one task, in the order of their ids; one link per dependency.
class Dependents {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Link;
    using difference_type = std::ptrdiff_t;
    using pointer = const Link*;
    using reference = Link;

    Iterator(const TaskGraph& graph, TaskId task, std::uint32_t at)
        : graph_(&graph), task_(task), at_(at) {
      find_row();
    }
    [[nodiscard]] Link operator*() const;
    Iterator& operator++() {
      ++at_;
      ++row_;
      find_row();
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    void find_row();

    const TaskGraph* graph_;
    TaskId task_{};
    std::uint32_t at_ = 0;   // in Topology::forward
    std::uint32_t row_ = 0;  // of the successor's overflow; valid if the entry is one of these
  };

  Dependents(const TaskGraph& graph, TaskId task) : graph_(&graph), task_(task) {}
  [[nodiscard]] Iterator begin() const {
    return {*graph_, task_, graph_->topology().forward_offsets[index(task_)]};
  }
  [[nodiscard]] Iterator end() const {
    return {*graph_, task_, graph_->topology().forward_offsets[index(task_) + 1]};
  }

 private:
  const TaskGraph* graph_;
  TaskId task_{};
};

/// The device tasks that one call enqueued, in the order of their ids.
class LaunchedBy {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = TaskId;
    using difference_type = std::ptrdiff_t;
    using pointer = const TaskId*;
    using reference = TaskId;

    Iterator(const TaskGraph& graph, TaskId call, std::uint32_t at, std::uint32_t end)
        : graph_(&graph), call_(call), at_(at), end_(end) {
      find();
    }
    [[nodiscard]] TaskId operator*() const { return task_; }
    Iterator& operator++() {
      ++at_;
      find();
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    void find();

    const TaskGraph* graph_;
    TaskId call_{};
    std::uint32_t at_ = 0;  // in Topology::forward
    std::uint32_t end_ = 0;
    TaskId task_ = none<TaskId>;
  };

  LaunchedBy(const TaskGraph& graph, TaskId call) : graph_(&graph), call_(call) {}
  [[nodiscard]] Iterator begin() const {
    const auto& offsets = graph_->topology().forward_offsets;
    return {*graph_, call_, offsets[index(call_)], offsets[index(call_) + 1]};
  }
  [[nodiscard]] Iterator end() const {
    const std::uint32_t end = graph_->topology().forward_offsets[index(call_) + 1];
    return {*graph_, call_, end, end};
  }
  [[nodiscard]] bool empty() const { return begin() == end(); }
  /// The first of them; there must be one.
  [[nodiscard]] TaskId front() const { return *begin(); }
  /// The last of them; there must be one.
  [[nodiscard]] TaskId back() const;
  /// The only one; none if there are several or none at all.
  [[nodiscard]] TaskId only() const;

 private:
  const TaskGraph* graph_;
  TaskId call_{};
};

/// What a task waits for, waits and queues as they are resolved now. Constant time per link.
[[nodiscard]] inline Sources sources(const TaskGraph& graph, TaskId task) { return {graph, task}; }
/// Who waits for a task.
[[nodiscard]] inline Dependents dependents(const TaskGraph& graph, TaskId task) {
  return {graph, task};
}

/// The link from the host task that enqueued a device task: its latency, and whether that counts
/// from the end of the call or from its start. Without one its source is no_point.
[[nodiscard]] Link launch_link(const TaskGraph& graph, TaskId device_task);
/// The host task that enqueued a device task, or none.
[[nodiscard]] TaskId launch_of(const TaskGraph& graph, TaskId device_task);
/// The device tasks that a host task enqueued.
[[nodiscard]] inline LaunchedBy launched_by(const TaskGraph& graph, TaskId call) {
  return {graph, call};
}

/// Neighbours on the same lane; none at its ends.
[[nodiscard]] inline TaskId previous_on_lane(const TaskGraph& graph, TaskId task) {
  const Point before = graph.topology().sources[index(task)][lane_slot];
  return before == no_point ? none<TaskId> : task_of(before);
}
[[nodiscard]] TaskId next_on_lane(const TaskGraph& graph, TaskId task);
/// The first tasks of all lanes of a kind, in the order of the lanes.
[[nodiscard]] std::vector<TaskId> first_on_lanes(const TaskGraph& graph, LaneKind kind);

/// The other half of an operation of two tasks (begin and finish), or none.
[[nodiscard]] TaskId other_half(const TaskGraph& graph, TaskId task);

/// The rules that tasks wait by. Looked up once per graph.
class WaitIndex {
 public:
  explicit WaitIndex(const std::vector<Wait>& waits);
  /// Rows of GraphContext::waits, in ascending order.
  [[nodiscard]] std::span<const std::uint32_t> of(TaskId task) const;

 private:
  std::vector<std::uint32_t> rows_;  // sorted by task
  std::vector<TaskId> tasks_;        // of each of them
};

/// True for a call that enqueues work and returns at once: not the begin of a blocking copy.
[[nodiscard]] inline bool is_plain_launch(const TaskGraph& graph, TaskId task) {
  return graph.kind(task) == TaskKind::launch && graph.work(task).part == TaskPart::whole;
}
/// True for a task that starts or ends a wait of the host: synchronization, blocking copy.
[[nodiscard]] inline bool blocks(const TaskGraph& graph, TaskId task) {
  return graph.kind(task) == TaskKind::synchronization ||
         (is_host(graph.kind(task)) && graph.work(task).part != TaskPart::whole);
}
/// True if another host thread hands over to this task or takes over from it.
[[nodiscard]] bool hands_over(const TaskGraph& graph, TaskId task);

}  // namespace foretrace
