// What a reader makes of one file: events, nodes or memory over time, and what was damaged in it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "trace/table/events.h"
#include "trace/table/import_report.h"
#include "trace/table/memory_timeline.h"
#include "trace/table/node_graph.h"

namespace foretrace::trace {

struct ReadOptions {
  bool strict = false;  ///< any dropped event is an error
  /// Called now and then with compressed bytes read and the file's size (0 if unknown).
  std::function<void(std::uint64_t, std::uint64_t)> progress;
};

struct LoadedTrace {
  EventTable events;
  ImportReport report;
  /// Formats that are graphs of nodes; their names are in `events.names`.
  std::optional<NodeGraph> nodes{};
  /// Formats that are device memory over time.
  std::optional<MemoryTimeline> memory{};
};

}  // namespace foretrace::trace
