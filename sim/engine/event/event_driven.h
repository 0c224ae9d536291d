// The event-driven engine: order by policy, durations by contention, waits at call time.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/result.h"
#include "sim/engine/event/policy.h"
#include "sim/engine/memory/memory_budget.h"
#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace {

enum class EventQueueKind : std::uint8_t {
  automatic,  ///< the calendar from 32 lanes on
  heap,
  calendar,
};

enum class WaitResolution : std::uint8_t {
  recorded,   ///< as commit() resolved them, in program order
  call_time,  ///< what a synchronization waits for, the order of a stream and the place in its
              ///< queue are decided by the simulated time of the calls
  automatic,  ///< at call time where the graph says that its launch order is not fixed
};

struct EventDrivenOptions {
  Policy* policy = nullptr;  ///< chooses and appends; null: lanes follow their own LanePolicy
  WaitResolution waits = WaitResolution::automatic;
  EventQueueKind queue = EventQueueKind::automatic;
  /// Limits on device memory, by rank and device. A policy may make room before they act.
  std::vector<MemoryBudget> budgets = {};
};

/// What was executed: the graph's tasks, then those that the policy appended.
struct Execution {
  Timeline timeline;     ///< graph tasks, then appended ones
  TaskColumns appended;  ///< same columns as the graph's; row i is task size() + i
  std::vector<std::int64_t> appended_duration_ns;
  std::vector<std::int64_t> appended_segment_ns;
  /// Dependencies that a policy added, and those resolved at call time.
  std::vector<Dependency> added_dependencies;
  std::size_t memory_waits = 0;                ///< host tasks that waited for memory
  std::int64_t memory_waited_ns = 0;           ///< and how long in all
  std::vector<MemoryUse> memory;               ///< per budget
  std::vector<double> capacity_use;            ///< per capacity: integral of amount over ns
  std::vector<std::int64_t> capacity_full_ns;  ///< per capacity: how long nothing was left of it
};

/// Takes lane policies, priorities, demands and capacities from the graph. Times equal those of
/// simulate() while every lane keeps program order and no task has a demand; a task that shares a
/// full capacity runs slower, all at the same rate (max-min). Errors: a deadlock (named by a task),
/// a capacity of size 0 in demand.
[[nodiscard]] Result<Execution> simulate_event_driven(const TaskGraph& graph,
                                                      const EventDrivenOptions& options = {});

/// The fast path: program order on every lane, no demands, waits as recorded.
void simulate_event_driven(const Topology& topology, const Weights& weights, Timeline& timeline,
                           EventQueueKind queue = EventQueueKind::automatic);

}  // namespace foretrace
