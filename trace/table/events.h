// EventTable: what a trace recorded, in columns. Times are integer ns from the first event.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/ids.h"
#include "sim/core/name_table.h"

namespace foretrace::trace {

enum class EventKind : std::uint8_t {
  cpu_op,           ///< framework operator on a host thread
  user_annotation,  ///< record_function range, ProfilerStep#N, Optimizer.step#...
  runtime,          ///< CUDA/HIP runtime or driver call
  python_function,  ///< Python frame ("nn.Module: Conv2d_0" among them)
  overhead,         ///< the profiler's own work ("Command Buffer Full", "Buffer Flush", ...)
  kernel,           ///< device
  copy,             ///< device
  set,              ///< device
  gpu_annotation,   ///< annotation projected on the device; carries no work
  other             ///< anything else with a duration
};

/// Where an event was recorded.
struct Track {
  enum class Kind : std::uint8_t { host_thread, stream, other };
  Kind kind = Kind::other;
  std::int32_t rank = 0;
  std::int32_t device = -1;  ///< streams: device ordinal as recorded
  std::int64_t process = 0;  ///< host threads: pid (0 if not a number)
  std::int64_t number = 0;   ///< thread id or stream number (a hash if not a number)
  NameId process_text{};     ///< as recorded
  NameId number_text{};
  NameId name{};  ///< thread_name metadata, if any
};

/// Descriptive arguments of an event, parsed once per distinct combination.
struct Descriptor {
  NameId dims{};            ///< JSON text of "Input Dims"
  NameId types{};           ///< JSON text of "Input type"
  NameId concrete{};        ///< JSON text of "Concrete Inputs"
  std::int64_t bytes = -1;  ///< copies and sets
  std::array<std::int32_t, 3> grid{};
  std::array<std::int32_t, 3> block{};
  std::int32_t registers_per_thread = 0;
  std::int32_t shared_memory_bytes = 0;
  double flops = -1.0;  ///< if the profiler counted them
  NameId text{};        ///< every other descriptive argument, as the JSON text of an object
};

enum class SyncKind : std::uint8_t { unknown, stream_sync, context_sync, event_sync, stream_wait };
/// A cuda_sync record. -1: not recorded.
struct SyncRecord {
  SyncKind kind = SyncKind::unknown;
  std::int32_t device = -1;
  std::int64_t stream = -1;  ///< the stream that waits (or is waited for: stream_sync)
  std::int64_t wait_on_stream = -1;
  std::int64_t record_correlation = -1;  ///< correlation of the cudaEventRecord waited for
  std::int64_t correlation = -1;         ///< of the runtime call
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
};

/// One end of a forward -> backward flow.
struct Flow {
  std::int64_t id = 0;
  std::int64_t time_ns = 0;
  TrackId track{};
  bool is_start = false;
};

/// Autograd sequence number of an operator; forward and backward share it.
struct SequenceNumber {
  EventId event{};
  std::int64_t number = 0;
  std::int64_t forward_thread = -1;  ///< set (>0) on backward operators by some versions; -1 absent
};

/// The number that PyTorch gives every call it records: rf_id in its execution traces.
struct RecordFunction {
  EventId event{};
  std::uint32_t number = 0;
};

/// A [memory] instant. Negative bytes: a free.
struct MemoryEvent {
  std::int64_t time_ns = 0;
  TrackId track{};
  std::int32_t device_type = 0;  ///< 0 CPU, 1 CUDA, 6 HIP
  std::int32_t device = -1;
  std::int64_t bytes = 0;
  std::uint64_t address = 0;          ///< 0: not recorded
  std::int64_t total_allocated = -1;  ///< -1: not recorded
  std::int64_t total_reserved = -1;
};

struct DeviceProperties {
  std::int32_t rank = 0;
  std::int32_t id = 0;
  std::string name;
  std::int64_t total_memory_bytes = 0;
  std::int32_t multiprocessors = 0;
  std::int32_t compute_major = 0;
  std::int32_t compute_minor = 0;
  std::int32_t max_threads_per_multiprocessor = 0;
  std::int32_t registers_per_multiprocessor = 0;
  std::int64_t shared_memory_per_multiprocessor = 0;
  std::int32_t warp_size = 0;
};

struct TraceInfo {
  std::string format;  ///< reader that read it
  std::string path;
  std::int32_t rank = -1;  ///< distributedInfo.rank; -1 unknown
  std::int32_t world_size = -1;
  std::int64_t base_time_ns = 0;   ///< baseTimeNanoseconds
  std::int64_t first_time_ns = 0;  ///< recorded time (without base) of time 0 of the table
  std::int64_t resolution_ns = 1;  ///< 1000 where every timestamp is a whole microsecond
  bool is_hip = false;             ///< HIP runtime calls (no launch queue limit)
  std::vector<DeviceProperties> devices;
  /// What was recorded of the program and its machine, as written: {"driver", "13.0"}. For people.
  std::vector<std::pair<std::string, std::string>> environment;
};

/// Rows are in file order; `by_start` sorts them. Every event here has a duration ("X" events).
struct EventTable {
  TraceInfo info;
  NameTable names;
  std::vector<Track> tracks;
  std::vector<Descriptor> descriptors;  ///< [0] is "no arguments"

  std::vector<EventKind> kind;
  std::vector<NameId> name;
  std::vector<TrackId> track;
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> duration_ns;
  std::vector<std::uint32_t> correlation;  ///< 0: none
  std::vector<std::uint32_t> external_id;  ///< 0: none
  std::vector<DescriptorId> descriptor;

  std::vector<SyncRecord> syncs;
  std::vector<Flow> flows;                       ///< forward -> backward only
  std::vector<SequenceNumber> sequence_numbers;  ///< sorted by event
  std::vector<RecordFunction> record_functions;  ///< sorted by event
  std::vector<MemoryEvent> memory;

  [[nodiscard]] std::size_t size() const { return kind.size(); }
  [[nodiscard]] std::string_view name_of(EventId e) const { return names[name[index(e)]]; }
  [[nodiscard]] std::int64_t end_ns(EventId e) const {
    return start_ns[index(e)] + duration_ns[index(e)];
  }
  [[nodiscard]] bool is_device_event(EventId e) const {
    const EventKind k = kind[index(e)];
    return k == EventKind::kernel || k == EventKind::copy || k == EventKind::set;
  }
  /// Bytes held by the columns, names and side tables.
  [[nodiscard]] std::size_t memory_bytes() const;
};

}  // namespace foretrace::trace
