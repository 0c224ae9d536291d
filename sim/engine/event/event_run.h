// One run of the event-driven engine: state of every task, lane and queue while the clock goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/engine/contention/contention.h"
#include "sim/engine/event/event_driven.h"
#include "sim/engine/event/event_queue.h"
#include "sim/engine/memory/memory_budget.h"
#include "sim/engine/release/late_edges.h"

namespace foretrace::engine {

/// Which queue suits that many lanes, and how far ahead their next events lie (average of duration
/// plus segment).
[[nodiscard]] bool wants_calendar(EventQueueKind queue, std::size_t lanes);
[[nodiscard]] std::int64_t typical_step_ns(const Weights& weights);

/// Order of ready tasks: by priority where the lane asks for it, then by time and arrival.
[[nodiscard]] bool goes_before(const ReadyTask& a, const ReadyTask& b);

class EventRun final : public Simulation {
 public:
  EventRun(const TaskGraph& graph, const EventDrivenOptions& options);
  [[nodiscard]] Result<Execution> run();

  [[nodiscard]] const TaskGraph& graph() const override { return graph_; }
  [[nodiscard]] std::int64_t now_ns() const override { return now_ns_; }
  [[nodiscard]] bool has_started(TaskId task) const override;
  [[nodiscard]] bool has_ended(TaskId task) const override;
  [[nodiscard]] Result<TaskId> append(const AppendedTask& appended) override;
  [[nodiscard]] Status add_dependency(const Dependency& dependency) override;
  [[nodiscard]] bool is_resident(TensorId tensor) const override {
    return memory_.is_resident(tensor);
  }
  void evict(TensorId tensor) override;
  [[nodiscard]] bool restore(TensorId tensor) override;
  [[nodiscard]] std::int64_t room_bytes(TensorId tensor) const override {
    return memory_.room_bytes(tensor);
  }
  [[nodiscard]] std::int64_t budget_bytes(TensorId tensor) const override {
    return memory_.budget_bytes(tensor);
  }

 private:
  enum class Stage : std::uint8_t { waiting, arrived, offered, started, ended };
  enum class Happens : std::uint32_t { ready, begin, end };
  struct LaneState {
    bool ordered = true;  ///< keeps program order: the lane's dependencies do the work
    bool busy = false;
    bool dirty = false;  ///< free, and to be offered to its ready tasks
    std::int64_t free_ns = 0;
    TaskId tail = none<TaskId>;  ///< call time: last operation enqueued
    TaskId last_launch = none<TaskId>;
    std::vector<ReadyTask> ready;  ///< sorted by goes_before
    std::vector<TaskId> entries;   ///< call time: first operation of every queue entry
  };
  /// A dependency added while running, in a list per task.
  struct Extra {
    Dependency dependency;
    std::uint32_t next = 0;  ///< index + 1
  };
  /// A task that waits for a point that is not known yet, in a list per source task.
  struct Waiter {
    Point point = no_point;
    TaskId task{};
    std::uint32_t next = 0;
  };

  // event_release.cpp: when a task may start, and what becomes known with every point
  [[nodiscard]] bool honours(std::size_t task, std::size_t slot) const;
  [[nodiscard]] std::int64_t release_ns(TaskId task);
  [[nodiscard]] std::int64_t extra_release_ns(TaskId task);
  void close_edges(TaskId source, Point point);
  void close_overflow(TaskId source, Point point, TaskId task, std::size_t nth);
  void close(TaskId task);

  // event_run.cpp: the clock, and tasks that start and end
  void count_open();
  [[nodiscard]] std::int64_t duration_ns(TaskId task) const;
  [[nodiscard]] std::int64_t segment_ns(TaskId task) const;
  [[nodiscard]] LaneId lane_id(TaskId task) const;
  [[nodiscard]] LaneState& lane_of(TaskId task) { return lanes_[index(lane_id(task))]; }
  [[nodiscard]] bool knows(Point point) const { return points()[index(point)] != unknown_ns; }
  [[nodiscard]] std::vector<std::int64_t>& points() { return execution_.timeline.points; }
  [[nodiscard]] const std::vector<std::int64_t>& points() const {
    return execution_.timeline.points;
  }
  void push(std::int64_t time_ns, TaskId task, Happens what);
  void on_ready(TaskId task);
  // event_memory.cpp: host tasks that wait for memory
  [[nodiscard]] bool may_allocate(TaskId task);
  void hold(TaskId task);
  void admit_held();
  void start(TaskId task, std::int64_t start_ns);
  void on_end(TaskId task);
  [[nodiscard]] Status loop();
  void handle(const Event& event);
  [[nodiscard]] Error deadlock() const;

  // event_lanes.cpp: lanes with a policy, contention, what a policy may do
  void offer(TaskId task);
  void dispatch(std::size_t lane);
  [[nodiscard]] Result<bool> settle();
  void depend(const Dependency& dependency);
  void append_columns(const AppendedTask& appended);
  void put_before(TaskId task, const AppendedTask& appended);
  [[nodiscard]] TaskId before(TaskId task) const;
  [[nodiscard]] Status check_place(const AppendedTask& appended) const;
  [[nodiscard]] TaskId last_of(LaneId lane) const;
  [[nodiscard]] Status check(const Dependency& dependency, bool task_too) const;

  // call_time.cpp: waits, stream order and queues by the time of the calls
  void prepare_calls();
  void call(TaskId task);
  void resolve_at(TaskId task);
  void resolve(const Wait& wait);
  void enqueue_all(TaskId call);
  void enqueue_backlog();
  [[nodiscard]] std::vector<TaskId> unlaunched_from(std::size_t first) const;
  void enqueue(TaskId launch, TaskId task);
  [[nodiscard]] bool is_stream(LaneId lane) const;

  static constexpr std::int64_t unknown_ns = INT64_MIN;

  const TaskGraph& graph_;
  const Topology& topology_;
  const EventDrivenOptions& options_;
  std::size_t static_tasks_ = 0;
  LateEdges late_;
  Contention contention_;
  bool has_contention_ = false;
  bool call_time_ = false;
  Execution execution_;
  std::int64_t now_ns_ = 0;
  std::size_t started_ = 0;
  HeapQueue heap_;
  std::optional<CalendarQueue> calendar_;
  std::vector<LaneState> lanes_;
  std::vector<std::uint32_t> dirty_lanes_;
  std::vector<std::uint32_t> open_;
  std::vector<Stage> stage_;
  std::vector<std::uint32_t> first_extra_;     ///< per task: index + 1
  std::vector<std::int64_t> extra_latest_ns_;  ///< per task: what those taken off its list allow
  std::vector<Extra> extras_;
  std::vector<std::uint32_t> first_waiter_;  ///< per task: index + 1
  std::vector<Waiter> waiters_;
  std::vector<std::pair<TaskId, std::uint32_t>> waits_;  ///< call time: (at, wait), sorted
  std::vector<TaskId> moved_;
  std::uint32_t arrivals_ = 0;
  /// A task that memory holds back, since when.
  struct Held {
    TaskId task{};
    std::int64_t since_ns = 0;
  };
  BudgetState memory_;
  std::vector<Held> held_;                    ///< in the order of arrival
  std::vector<std::int64_t> appended_at_ns_;  ///< per appended task: not before; never_ns: free
  std::unordered_map<TaskId, TaskId> put_before_;  ///< the last that was put there; only looked up
  std::optional<Error> out_of_memory_;
};

}  // namespace foretrace::engine
