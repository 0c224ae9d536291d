// What the dependency rules share: host calls, device operations and their program order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/graph/task.h"
#include "trace/annotate/annotate.h"
#include "trace/graph/built_graph.h"
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
  std::int64_t end_ns = 0;      ///< clipped where the next call of the thread starts inside it
  std::int64_t segment_ns = 0;  ///< host work of the thread before the call
  std::int64_t own_ns = 0;      ///< host work of the call itself
  std::int64_t post_ns = 0;     ///< from the target's end to the return of the call
  std::uint32_t first_op = 0;   ///< operations launched: ops[first_op, first_op + op_count)
  std::uint32_t op_count = 0;
  std::uint32_t position = nothing;         ///< of its (begin) task in program order
  std::uint32_t finish_position = nothing;  ///< of its finish task
  std::uint32_t used_stream = nothing;      ///< stream the call's thread used last
  std::uint32_t handed_by = nothing;        ///< call index of the hand_over_from mark
  std::int64_t hand_over_ns = 0;            ///< from that mark to this one
  std::int64_t silent_ns = 0;               ///< part of the segment that was waiting, not work
  std::int64_t profiler_ns = 0;             ///< part of it that was the profiler's own work
  bool hidden = false;                      ///< event_sync: not recorded, seen from a silence
  std::uint32_t waits_for = nothing;  ///< hidden: the operation it waits for, where that is known
  std::int32_t step = -1;             ///< step marks: index of Annotation::steps
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
  std::int64_t unrecorded_ns = 0;  ///< work right before it that the device graph does not show
  bool anchored_at_start = false;  ///< the anchor is the call's start, not its end
  std::uint32_t behind = nothing;  ///< waits for this operation, which was launched later
  std::int64_t late_ns = 0;        ///< then by how much
  bool pinned = false;  ///< absolute start: first operation of a stream before the window
  std::uint32_t collective = nothing;  ///< index of Assembly::collectives
};

/// What is known of a collective operation. Times are the rank's own.
struct CollectiveOp {
  CollectiveKind kind = CollectiveKind::none;
  std::int64_t bytes = -1;
  std::uint32_t communicator = no_communicator;  ///< of the graph
  std::vector<std::uint32_t> joins{};            ///< numbers of the rendezvous that it waits for
  std::vector<std::uint32_t> announced{};        ///< of those in which others wait for it alone
  std::int64_t finish_start_ns = 0;              ///< when the last rank had arrived
  std::int64_t transfer_ns = 0;                  ///< from then on

  [[nodiscard]] bool waits() const { return !joins.empty(); }
  [[nodiscard]] bool meets() const { return waits() || !announced.empty(); }
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

/// What made an operation start later than everything known about it; nothing if `find` sees none.
struct LateStarts;
struct Cause {
  std::optional<Source> (*find)(const LateStarts& starts, std::uint32_t op, std::int64_t ready_ns);
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
  std::uint32_t queue_depth = 0;  ///< launches it takes ahead of the executing one; 0: any number
  /// One of the lanes of copies that run beside each other: it follows no order of its own.
  bool is_beside = false;
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

/// Recorded waits by the correlation of the call that waits; empty where the rule is left out.
struct SyncRecords {
  std::unordered_map<std::int64_t, const SyncRecord*> by_call{};
  std::unordered_map<std::int64_t, const SyncRecord*> stream_waits{};  ///< of them
  std::unordered_map<std::uint32_t, std::uint32_t> record_calls{};  ///< calls that record an event
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
  std::vector<DeviceOp> ops{};           ///< those of a call together, in the order of calls
  std::vector<DeviceOp> without_call{};  ///< sorted by start; pre_window adds them to `ops`
  std::vector<Item> items{};
  std::vector<Source> sources{};  ///< sorted by op when every rule has run
  std::vector<Target> targets{};  ///< in the order of calls
  std::vector<Cause> causes{};    ///< asked in turns for the cause of a late start
  SyncRecords syncs{};
  std::vector<CollectiveOp> collectives{};
  std::vector<Communicator> communicators{};  ///< of a graph of this rank alone
  Medians medians{};
  Honesty honesty{};

  [[nodiscard]] std::int64_t end_of_source(const Source& source) const;
  /// The sources of an operation; `sources` must be sorted.
  [[nodiscard]] std::span<const Source> sources_of(std::uint32_t op) const;
  /// The last operation of a stream that stands before a program position, or nothing.
  [[nodiscard]] std::uint32_t tail(std::uint32_t stream, std::uint32_t position) const;
  /// Per track the index of its thread, or nothing.
  [[nodiscard]] std::vector<std::uint32_t> thread_of_track() const;
  /// The stream of a recorded number (device below 0: any), or nothing.
  [[nodiscard]] std::uint32_t stream_of(std::int32_t device, std::int64_t number) const;
  /// The call that recorded the event that a recorded wait is for, or nothing.
  [[nodiscard]] std::uint32_t recording_of(const SyncRecord& wait) const;
  [[nodiscard]] std::string_view api(const HostCall& call) const { return events.names[call.api]; }
};

/// The typical gap before an operation, given the one before it on its stream.
[[nodiscard]] std::int64_t typical_gap(const Assembly& assembly, const DeviceOp& op);

}  // namespace foretrace::trace::rules
