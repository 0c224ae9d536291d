// What is in a trace: devices, threads, streams, steps, layers, and where the device time goes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/session/memory/memory_report.h"
#include "apps/session/recording/load.h"
#include "sim/core/result.h"
#include "sim/graph/task.h"
#include "sim/result/steps/step_summary.h"
#include "sim/result/steps/steps.h"
#include "trace/formats/reader.h"
#include "trace/table/memory_timeline.h"
#include "trace/table/node_graph.h"

namespace foretrace {

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
  std::string steps_note;  ///< how steps were found where nothing marks them; else empty
  trace::Honesty honesty;
  std::vector<ThreadFacts> threads;
  std::vector<StreamFacts> streams;
  std::vector<Share> kinds;      ///< kernel, collective, copy, set
  std::vector<Share> phases;     ///< in the order of the enum, empty ones left out
  std::vector<Share> layers;     ///< longest first; device time outside every layer is ""
  std::vector<Share> kernels;    ///< by name, longest first
  std::vector<Share> operators;  ///< by framework operator, longest first; "" is none
  std::int64_t device_time_ns = 0;
  StepSummary summary;
  std::vector<std::string> warnings;
};

/// What only a graph of nodes has.
struct NodeFacts {
  std::string schema;
  std::uint64_t nodes = 0;
  std::uint64_t on_device = 0;
  std::uint64_t communications = 0;  ///< that a device does
  std::int64_t communicated_bytes = 0;
  std::uint64_t with_duration = 0;
  std::uint64_t data_dependencies = 0;
  std::uint64_t control_dependencies = 0;
  std::uint64_t tensors = 0;   ///< different ones
  std::uint64_t storages = 0;  ///< different ones
  std::int64_t storage_bytes = 0;
};

/// What only memory over time has.
struct MemoryFacts {
  std::uint64_t samples = 0;
  std::int64_t span_ns = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t peak_at_ns = 0;
  std::int64_t reserved_bytes = -1;                           ///< at its own peak; -1 not recorded
  std::vector<std::pair<std::string, std::int64_t>> at_peak;  ///< by category, most bytes first
  std::optional<trace::AllocatorState> at_end;                ///< of an allocator's snapshot
  std::vector<trace::FailedRequest> failed;
};

/// What the memory of a run is asked for with.
struct MemoryQuestion {
  bool asked = false;
  AllocatorSettings settings;
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
  std::vector<Share> names;  ///< where there is no graph: events by name, longest first
  std::string link;          ///< what a second trace that belongs to this one added
  std::optional<NodeFacts> nodes;
  std::optional<MemoryFacts> memory;
  std::string no_graph;             ///< why there is no graph: "no device work"
  bool has_memory_reports = false;  ///< true if they were asked for
  std::vector<MemoryReport> memory_reports;
  trace::ParameterEstimate model;  ///< from shapes, with the memory reports
  std::string memory_note;         ///< what the reports rest on, if not on recorded allocations
  std::string no_memory;           ///< why nodes with tensors give no report
  std::uint64_t memory_nodes = 0;  ///< of a trace whose memory has an order but no times; else 0
};

/// Reads the traces of a file: itself, the processes in it or the members of an archive. That no
/// graph can be built from one is an answer, not an error.
[[nodiscard]] Result<std::vector<Inspection>> inspect(const std::string& path,
                                                      const LoadOptions& options = {},
                                                      const MemoryQuestion& memory = {});

/// The same of a trace that was read.
[[nodiscard]] Inspection inspection_of(const std::string& path, const trace::LoadedTrace& trace,
                                       const LoadOptions& options = {},
                                       const MemoryQuestion& memory = {});
/// Two traces of which one completes the other are linked first: an execution trace and the timed
/// trace of its run, the capture and the execution of a device graph. Others are as inspect() says.
[[nodiscard]] Result<std::vector<Inspection>> inspect_two(const std::string& first,
                                                          const std::string& second,
                                                          const LoadOptions& options = {},
                                                          const MemoryQuestion& memory = {});

/// Counts of a graph of nodes, and of memory over time.
[[nodiscard]] NodeFacts node_facts(const trace::NodeGraph& nodes);
[[nodiscard]] MemoryFacts memory_facts(const trace::MemoryTimeline& memory);

/// Name of an event kind in reports.
[[nodiscard]] std::string_view to_string(trace::EventKind kind);

}  // namespace foretrace
