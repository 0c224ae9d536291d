// What the dependency rules share: host calls, device operations and their program order.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/graph/task.h"
#include "trace/annotate/annotate.h"
#include "trace/rules/build_graph.h"
#include "trace/table/events.h"

namespace foretrace::trace::rules {

inline constexpr std::uint32_t nothing = 0xFFFFFFFFU;

/// What a host call means for dependencies.
enum class CallKind : std::uint8_t {
  launch,         ///< enqueues device work and returns
  graph_launch,   ///< one call, many operations
  blocking_copy,  ///< returns with its copy
  stream_sync,
  device_sync,
  event_sync,
  free,  ///< waits for the device, then works
  event_record,
  stream_wait,
  thread_first,  ///< marks from here on: zero length
  hand_over_to,
  step_end,
  step_begin,
  hand_over_from,
  thread_last
};
[[nodiscard]] constexpr bool is_mark(CallKind kind) { return kind >= CallKind::thread_first; }
/// Calls that are a begin and a finish task.
[[nodiscard]] constexpr bool is_blocking(CallKind kind) {
  return kind == CallKind::blocking_copy || kind == CallKind::stream_sync ||
         kind == CallKind::device_sync || kind == CallKind::event_sync || kind == CallKind::free;
}

/// A host call or mark that becomes one task (or two, if it blocks).
struct HostCall {
  EventId event = none<EventId>;  ///< none for marks
  NameId api{};
  CallKind kind = CallKind::launch;
  std::uint32_t thread = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;     ///< clipped where the next call of the thread starts inside it
  std::int64_t own_ns = 0;     ///< host work of the call itself
  std::int64_t post_ns = 0;    ///< from the target's end to the return of the call
  std::uint32_t first_op = 0;  ///< operations launched: ops[first_op, first_op + op_count)
  std::uint32_t op_count = 0;
  std::uint32_t position = nothing;         ///< of its (begin) task in program order
  std::uint32_t finish_position = nothing;  ///< of its finish task
  std::uint32_t used_stream = nothing;      ///< stream the call's thread used last
  std::uint32_t handed_by = nothing;        ///< call index of the hand_over_from mark
  std::int64_t hand_over_ns = 0;            ///< from that mark to this one
  std::int64_t silent_ns = 0;               ///< part of the segment that was waiting, not work
  bool hidden = false;     ///< event_sync: not recorded, a silence before its reader
  std::int32_t step = -1;  ///< step marks: index of Annotation::steps
};

/// A kernel, copy or set.
struct DeviceOp {
  EventId event{};
  TaskKind kind = TaskKind::kernel;
  std::uint32_t stream = 0;          ///< index of Assembly::streams
  std::uint32_t call = nothing;      ///< nothing: launched before the window (or never seen)
  std::uint32_t position = nothing;  ///< in program order
  std::uint32_t previous = nothing;  ///< operation before it on its stream
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t gap_ns = 0;         ///< after the previous operation of the stream
  std::int64_t latency_ns = 0;     ///< after the anchor
  bool anchored_at_start = false;  ///< the anchor is the call's start, not its end
  bool pinned = false;  ///< absolute start: first operation of a stream before the window
  std::uint32_t collective = nothing;  ///< index of Assembly::collectives
};

/// What is known of a collective operation. Times are the rank's own.
struct CollectiveOp {
  CollectiveKind kind = CollectiveKind::none;
  std::int64_t bytes = -1;
  std::uint32_t communicator = no_communicator;  ///< of the graph
  std::uint32_t join = nothing;      ///< number of its rendezvous; nothing: it meets nobody
  std::int64_t finish_start_ns = 0;  ///< when the last rank had arrived
  std::int64_t transfer_ns = 0;      ///< from then on
};

/// Where an edge into a device operation comes from.
enum class EdgeOrigin : std::uint8_t {
  record,
  heuristic,
  inferred,
  capacity,
  default_stream,
  graph
};

/// A cross-stream source of a device operation: symbolic (tail of a stream at a position) or fixed.
struct Source {
  std::uint32_t op = 0;         ///< the operation that waits
  std::uint32_t source_op = 0;  ///< the operation it waits for, as recorded
  EdgeOrigin origin = EdgeOrigin::record;
  std::uint32_t at = nothing;  ///< program position whose tail it is; nothing: a fixed operation
  std::int64_t lag_ns = 0;
  float fraction = -1;  ///< >= 0: capacity edge from the source's start
};

/// What a blocking call waits for.
struct Target {
  std::uint32_t call = 0;
  std::uint32_t stream = nothing;  ///< nothing: every stream of the device
  std::uint32_t at = nothing;      ///< program position whose tail it is
};

struct Stream {
  TrackId track{};
  std::int32_t device = 0;
  std::int64_t number = 0;
  std::vector<std::uint32_t> ops{};  ///< in program (= stream) order
};

struct HostThread {
  TrackId track{};
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
  std::vector<std::uint32_t> calls{};  ///< in order
};

/// One task to be.
struct Item {
  enum class Kind : std::uint8_t { call, finish, op };
  Kind kind = Kind::call;
  std::uint32_t index = 0;
};

/// Latencies and gaps that the importer takes from the trace itself. See constants.h for caps.
struct Medians {
  std::vector<std::int64_t> launch_ns;        ///< per name id: call end to start, idle stream
  std::vector<std::int64_t> start_anchor_ns;  ///< per name id: call start to start, idle stream
  std::vector<std::int64_t> duration_ns;      ///< per name id: call duration
  std::vector<std::int64_t> own_ns;           ///< per name id: blocking calls that did not wait
  std::vector<std::int64_t> post_ns;          ///< per name id: blocking calls that waited
  std::vector<std::uint32_t> gap_class;       ///< per name id: copies differ by direction
  std::uint32_t gap_classes = 1;
  std::vector<std::int64_t> gap_ns;  ///< per class of the previous operation x own class
  std::int64_t event_lag_ns = 0;
};

struct Assembly {
  const EventTable& events;
  const Annotation& annotation;
  const BuildOptions& options;
  std::int32_t rank = 0;
  std::int64_t begin_ns = 0;   ///< first kept event
  std::int64_t origin_ns = 0;  ///< time 0 of the graph: begin_ns, or earlier if others begin first
  std::int64_t slack_ns = 0;   ///< three times the resolution of the trace

  std::vector<HostThread> threads{};
  std::vector<Stream> streams{};
  std::vector<HostCall> calls{};
  std::vector<DeviceOp> ops{};
  std::vector<Item> items{};
  std::vector<Source> sources{};  ///< sorted by op when every rule has run
  std::vector<Target> targets{};  ///< in the order of calls
  std::vector<CollectiveOp> collectives{};
  std::vector<Communicator> communicators{};  ///< of a graph of this rank alone
  Medians medians{};
  Honesty honesty{};

  [[nodiscard]] std::int64_t end_of_source(const Source& source) const;
  /// The last operation of a stream that stands before a program position, or nothing.
  [[nodiscard]] std::uint32_t tail(std::uint32_t stream, std::uint32_t position) const;
  [[nodiscard]] std::string_view api(const HostCall& call) const { return events.names[call.api]; }
};

/// Kind, bytes and group of collective operations, for a graph of this rank alone.
void describe_collectives(Assembly& assembly);
/// Keeps threads that launch work or carry steps; collects and classifies their calls.
void collect(Assembly& assembly);
/// Every rule below in its order, on what collect() found.
void apply(Assembly& assembly);
/// Silences before cudaEventElapsedTime become event synchronizations.
void hidden_sync(Assembly& assembly);
/// Gaps of one thread that end when another thread falls silent: marks on both.
void hand_over(Assembly& assembly);
/// Program order of all threads, device operations right after their calls.
void program_order(Assembly& assembly);
/// The typical gap before an operation, given the one before it on its stream.
[[nodiscard]] std::int64_t typical_gap(const Assembly& assembly, const DeviceOp& op);
/// Medians of launch latency, gaps, call durations.
void measure_medians(Assembly& assembly);
/// Launch calls that were blocked on a full queue keep their own cost only.
void queue_depth(Assembly& assembly);
/// What each blocking call waits for, its own cost and its completion latency.
void synchronization(Assembly& assembly);
void event_wait(Assembly& assembly);
void default_stream(Assembly& assembly);
void graph_launch(Assembly& assembly);
/// Splits every start into latency, gap and sources; explains what is late or counts it.
void device_start(Assembly& assembly);
/// host_only_ns and device_busy_ns, from events alone.
void reference_times(Assembly& assembly);

}  // namespace foretrace::trace::rules
