// What a reader makes of one file: events, nodes or memory over time, and what was damaged in it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <variant>

#include "trace/table/events.h"
#include "trace/table/import_report.h"
#include "trace/table/memory_timeline.h"
#include "trace/table/node_graph.h"

namespace foretrace::trace {

class ReadBudget;

struct ReadOptions {
  bool strict = false;  ///< any dropped event is an error
  /// Called now and then with compressed bytes read and the file's size (0 if unknown).
  std::function<void(std::uint64_t, std::uint64_t)> progress;
  /// What it may take of memory (trace/io/read_budget.h); null: whatever there is.
  std::shared_ptr<ReadBudget> budget{};
};

/// The rows of LoadedTrace::events.
struct TimedEvents {};

struct LoadedTrace {
  /// Names and facts of the file, whatever it holds. Rows only where it recorded events.
  EventTable events;
  ImportReport report;
  /// What it recorded. Names of a graph of nodes are in `events.names`.
  std::variant<TimedEvents, NodeGraph, MemoryTimeline> content{};

  /// Null where something else was recorded.
  [[nodiscard]] const NodeGraph* nodes() const { return std::get_if<NodeGraph>(&content); }
  [[nodiscard]] const MemoryTimeline* memory() const {
    return std::get_if<MemoryTimeline>(&content);
  }
  /// Events with times: only they can be joined with other ranks.
  [[nodiscard]] bool is_timed() const { return std::holds_alternative<TimedEvents>(content); }
};

}  // namespace foretrace::trace
