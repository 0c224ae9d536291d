// What a trace becomes: a task graph, what it rests on, and the options of building it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "sim/graph/task_graph.h"
#include "trace/annotate/tensors/parameters.h"
#include "trace/annotate/tensors/tensor_lifetimes.h"
#include "trace/table/events.h"

namespace foretrace::trace {

/// Names of rules that a graph is built without, to see what they are worth (trace/rules/rules.h
/// has them all).
using LeftOutRules = std::set<std::string, std::less<>>;

/// Rates for nodes of execution traces that record no duration. 0: not given.
struct NodeCosts {
  double operations_per_second = 0;
  double memory_bytes_per_second = 0;
  double network_bytes_per_second = 0;
  bool without_transfers = false;  ///< communication takes no time: what it takes is set later
};

struct BuildOptions {
  LeftOutRules without_rules;
  NodeCosts node_costs;
  /// True: launch latencies and gaps are the trace's medians, nothing recorded per operation.
  bool constant_latency = false;
  /// Where no device memory was recorded: tensors from the shapes of operators.
  bool tensors_from_shapes = true;
};

/// What the graph rests on and what it does not explain. Times in ns.
struct Honesty {
  std::int64_t unexplained_device_ns = 0;
  std::uint64_t unexplained_device_count = 0;
  /// Holes inside device graphs: nodes that were not recorded, taken for work of the device.
  std::int64_t unrecorded_device_ns = 0;
  std::uint64_t unrecorded_device_count = 0;
  std::int64_t unexplained_launch_ns = 0;
  std::uint64_t unexplained_launch_count = 0;
  std::int64_t queue_blocked_ns = 0;
  std::uint64_t queue_blocked_count = 0;
  std::int64_t profiler_ns =
      0;  ///< the profiler's own work on these threads; it stays in the times
  std::array<std::uint64_t, 6> edges_by_origin{};  ///< see edge_origin_names
  std::uint64_t contradicted_edges = 0;
  std::uint64_t hand_overs = 0;
  std::int64_t initial_backlog_ns = 0;
  std::int64_t first_use_ns = 0;  ///< one-off long launches (module loading)
  std::uint64_t pre_window_operations = 0;
  std::uint64_t absolute_pins = 0;
  std::int64_t host_only_ns = 0;    ///< from events: host threads with every wait taken out
  std::int64_t device_busy_ns = 0;  ///< union of recorded device intervals
  std::int64_t span_ns = 0;         ///< recorded first start to last end
  std::vector<std::string> flags;   ///< "shared device", "initial backlog", "first use", ...
};
inline constexpr std::array<const char*, 6> edge_origin_names = {
    "record", "heuristic", "inferred", "capacity", "default_stream", "graph"};

/// Recorded times of one step, for comparison only: no simulation reads them.
struct MeasuredStep {
  std::int64_t number = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t first_device_start_ns = -1;  ///< of the work launched in it; -1 none
};

struct BuiltGraph {
  TaskGraph graph;
  Honesty honesty;
  std::vector<MeasuredStep> steps;
  /// Recorded start per task (after time 0), for comparison and views only; -1 where synthetic.
  std::vector<std::int64_t> recorded_start_ns{};
  std::int64_t origin_ns = 0;  ///< time 0 of the graph in the times of the events; of one rank
  std::vector<TrackId> thread_tracks{};  ///< of one rank: per lane its host thread, or none
  std::string steps_note{};  ///< how steps were found where nothing marks them; else empty
  std::vector<std::string> warnings{};
  /// What was recorded of the memory of each device; its tensors are those of the graph.
  std::vector<DeviceMemory> memory{};
  /// What the shapes say of the model, where memory was recorded.
  ParameterEstimate parameters{};
  /// What the tensors rest on and what they miss, where no allocations were recorded.
  std::string memory_note{};
};

}  // namespace foretrace::trace
