// What is in a trace: devices, threads, streams, steps, layers, and where the device time goes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/driver/load.h"
#include "apps/driver/steps.h"
#include "sim/core/result.h"
#include "sim/graph/task.h"

namespace foretrace::driver {

/// Device time and operations that share a name.
struct Share {
  std::string name;
  std::uint64_t count = 0;
  std::int64_t time_ns = 0;
};

struct StreamFacts {
  std::int32_t device = 0;
  std::int64_t number = 0;
  std::uint64_t operations = 0;
  std::int64_t time_ns = 0;
};

struct ThreadFacts {
  std::int64_t number = 0;
  std::string name;
  std::uint64_t calls = 0;   ///< tasks of the graph
  std::int64_t time_ns = 0;  ///< host time of its tasks and segments, waits left out
};

/// What only the graph knows.
struct GraphFacts {
  std::uint64_t tasks = 0;
  std::uint64_t dependencies = 0;
  StepTimes steps;
  StepAnswer answer;
  trace::Honesty honesty;
  std::vector<ThreadFacts> threads;
  std::vector<StreamFacts> streams;
  std::vector<Share> kinds;      ///< kernel, collective, copy, set
  std::vector<Share> phases;     ///< in the order of the enum, empty ones left out
  std::vector<Share> layers;     ///< longest first; device time outside every layer is ""
  std::vector<Share> kernels;    ///< by name, longest first
  std::vector<Share> operators;  ///< by framework operator, longest first; "" is none
  std::int64_t device_time_ns = 0;
  std::vector<std::string> warnings;
};

struct Inspection {
  std::string path;
  trace::TraceInfo info;
  trace::ImportReport report;
  std::array<std::uint64_t, 10> events_by_kind{};  ///< in the order of trace::EventKind
  std::uint64_t memory_events = 0;
  std::uint64_t sync_records = 0;
  std::uint64_t flows = 0;
  std::int64_t span_ns = 0;  ///< first start to last end of all events
  std::optional<GraphFacts> graph;
  std::string no_graph;  ///< why there is no graph: "no device work"
};

/// Reads a trace; that no graph can be built from it is an answer, not an error.
[[nodiscard]] Result<Inspection> inspect(const std::string& path, const LoadOptions& options = {});

/// Name of an event kind in reports.
[[nodiscard]] std::string_view to_string(trace::EventKind kind);

}  // namespace foretrace::driver
