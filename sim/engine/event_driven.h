// The event-driven engine: order by policy, durations by contention, waits at call time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/core/result.h"
#include "sim/engine/policy.h"
#include "sim/graph/change.h"
#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace {

enum class EventQueueKind : std::uint8_t {
  automatic,  ///< the calendar from 32 lanes on
  heap,
  calendar,
};

enum class WaitResolution : std::uint8_t {
  automatic,  ///< at call time where the graph says that launch order is not fixed
  recorded,   ///< as commit() resolved them, in program order
  call_time,  ///< what a synchronization waits for, and the order of a stream, is decided by the
              ///< simulated time of the calls
};

struct EventDrivenOptions {
  std::span<const LanePolicy> lane_policies;  ///< per lane; empty: program order everywhere
  std::span<const std::int32_t> priorities;   ///< per task, smaller first; empty: all equal
  Policy* policy = nullptr;                   ///< chooses and appends; null: nobody does
  WaitResolution waits = WaitResolution::automatic;
  EventQueueKind queue = EventQueueKind::automatic;
};

/// What was executed: the graph's tasks, then those that the policy appended.
struct Execution {
  Timeline timeline;     ///< graph tasks and appended ones
  TaskColumns appended;  ///< same columns as the graph's; row i is task size() + i
  std::vector<std::int64_t> appended_duration_ns;
  std::vector<std::int64_t> appended_segment_ns;
  std::vector<Dependency> appended_dependencies;
  /// Per capacity: amount x ns that was used, and ns during which it was full.
  std::vector<double> capacity_use;
  std::vector<std::int64_t> capacity_full_ns;
};

/// Times equal those of simulate() while every lane keeps program order and nothing is shared.
/// Errors: a deadlock (named by a task), a demand that no capacity can serve.
[[nodiscard]] Result<Execution> simulate_event_driven(const TaskGraph& graph,
                                                      const EventDrivenOptions& options = {});

/// The fast path: program order on every lane, no contention. As simulate(), but ordered by time
/// with an event queue.
void simulate_event_driven(const Topology& topology, const Weights& weights, Timeline& timeline,
                           EventQueueKind queue = EventQueueKind::automatic);

}  // namespace foretrace
