// The words of the task graph: kinds of task and dependency, lanes, works, waits, tensors.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/ids.h"

namespace foretrace {

/// What a task is. An operation whose END depends on others is two tasks: a begin and a finish.
enum class TaskKind : std::uint8_t {
  host,             ///< host work that matters: cudaFree, an allocation, a cut segment
  launch,           ///< a host call that enqueues device work
  kernel,           ///< device: computation
  collective,       ///< device: an NCCL/RCCL kernel
  copy,             ///< device: a copy engine transfer
  set,              ///< device: a memset
  synchronization,  ///< host: a call that waits for the device (begin, then finish)
  wait,             ///< host: cudaStreamWaitEvent, cudaEventRecord
  mark,             ///< host: zero-length step mark or first/last event of a thread
  transfer,         ///< network: bytes on their way
};
inline constexpr std::size_t task_kind_count = 10;

enum class Phase : std::uint8_t { unknown, forward, backward, update, data_loading, communication };
inline constexpr std::size_t phase_count = 6;

enum class Precision : std::uint8_t { unknown, fp64, fp32, tf32, fp16, bf16, fp8, int8 };
inline constexpr std::size_t precision_count = 8;

/// Where a duration comes from, from most to least trusted.
enum class Provenance : std::uint8_t { measured, scaled, table, roofline, assumed };
inline constexpr std::size_t provenance_count = 5;

/// Why a task had to wait. Kept with every dependency so that the critical path can explain itself.
enum class DependencyKind : std::uint8_t {
  none,
  program_order,    ///< previous task of the same host thread
  stream_order,     ///< previous operation of the same stream
  launch,           ///< the call that enqueued it
  event_wait,       ///< an event of another stream
  synchronization,  ///< device work that a blocking host call waits for
  queue,            ///< launch queue full
  capacity,         ///< another kernel filled the device
  hand_over,        ///< another host thread hands over
  data,             ///< a value
  memory,           ///< memory becomes free
  rendezvous,       ///< all members of a collective have arrived
  boundary,         ///< start of the recorded window (absolute time)
  control,          ///< added by a what-if
};
inline constexpr std::size_t dependency_kind_count = 14;

[[nodiscard]] std::string_view to_string(TaskKind kind);
[[nodiscard]] std::string_view to_string(Phase phase);
[[nodiscard]] std::string_view to_string(Precision precision);
[[nodiscard]] std::string_view to_string(Provenance provenance);
[[nodiscard]] std::string_view to_string(DependencyKind kind);

/// True for kernel, collective, copy, set: work that a device does.
[[nodiscard]] constexpr bool is_device(TaskKind kind) {
  return kind == TaskKind::kernel || kind == TaskKind::collective || kind == TaskKind::copy ||
         kind == TaskKind::set;
}
/// True for everything that a host thread does.
[[nodiscard]] constexpr bool is_host(TaskKind kind) {
  return !is_device(kind) && kind != TaskKind::transfer;
}

enum class LaneKind : std::uint8_t { origin, host_thread, stream, copy_direction, channel };
/// True for lanes on which a call puts work that runs later, and whose last task a Wait means.
[[nodiscard]] constexpr bool is_stream_like(LaneKind kind) {
  return kind == LaneKind::stream || kind == LaneKind::copy_direction || kind == LaneKind::channel;
}
inline constexpr std::int32_t no_device = -1;

/// How the event-driven engine chooses among ready tasks of a lane.
enum class LanePolicy : std::uint8_t { program_order, ready_order, priority };

/// Something that keeps order and nothing else: one task of a lane after the other.
struct Lane {
  LaneKind kind = LaneKind::origin;
  std::int32_t rank = 0;
  std::int32_t device = no_device;
  std::int64_t number = 0;  ///< thread id or stream number as recorded
  std::uint32_t queue_depth =
      0;  ///< entries a stream holds ahead of the executing one; 0: no limit
  std::string name = {};
  LanePolicy policy = LanePolicy::program_order;  ///< the pull engine knows program order only
};

/// Equal ranks are one class that is simulated once.
struct RankClass {
  std::int32_t first_rank = 0;
  std::uint32_t multiplicity = 1;
};

/// Which part of an operation a task is: an operation whose END depends on others is two tasks.
enum class TaskPart : std::uint8_t { whole, begin, finish };

/// What a collective task communicates.
enum class CollectiveKind : std::uint8_t {
  none,  ///< not a collective, or not known
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  gather,
  scatter,
  barrier,
  send,
  receive,
  send_receive,  ///< one kernel that does both, towards peers that are not recorded
};
inline constexpr std::size_t collective_kind_count = 13;
[[nodiscard]] std::string_view to_string(CollectiveKind kind);

/// Ranks that communicate with each other. Index 0 of GraphContext::communicators is the first.
struct Communicator {
  std::string name = {};
  std::uint32_t size = 0;                ///< ranks of the whole job in it; 0 unknown
  std::vector<std::int32_t> ranks = {};  ///< those in this graph, ascending
};
inline constexpr std::uint32_t no_communicator = 0xFFFFFFFFU;

/// What a task does, shared by all tasks that do the same. Costs are per work.
struct Work {
  NameId name{};           ///< kernel or call name
  NameId operator_name{};  ///< innermost framework operator (aten::mm), if known
  NameId shapes{};         ///< JSON text of the operator's input dims, if recorded
  NameId types{};          ///< JSON text of the operator's input types, if recorded
  TaskKind kind = TaskKind::host;
  TaskPart part = TaskPart::whole;  ///< the finish of a pair directly follows its begin on its lane
  Precision precision = Precision::unknown;
  double flops = -1.0;  ///< floating-point operations; -1 unknown
  /// Bytes moved; copies: exact; kernels: read + written; collectives: payload_bytes of the trace;
  /// -1 unknown.
  std::int64_t bytes = -1;
  std::array<std::int32_t, 3> grid{};   ///< thread blocks; 0 unknown
  std::array<std::int32_t, 3> block{};  ///< threads per block; 0 unknown
  std::int32_t registers_per_thread = 0;
  std::int32_t shared_memory_bytes = 0;
  CollectiveKind collective = CollectiveKind::none;
  std::uint32_t communicator = no_communicator;  ///< index of GraphContext::communicators
  friend bool operator==(const Work&, const Work&) = default;
};

/// What a task uses while it runs: {capacity, amount}. Contention acts on demands, never on lanes.
struct Demand {
  TaskId task{};
  std::uint32_t capacity = 0;  ///< index of TaskGraph::capacities()
  float amount = 0;            ///< in units of the capacity
};
struct Capacity {
  std::string name;
  double size = 1.0;
};

/// A task that does not wait its turn on a lane with LanePolicy::priority.
struct TaskPriority {
  TaskId task{};
  std::int32_t priority = 0;  ///< smaller goes first; tasks that are not listed have 0
};

/// Layer = module path of the model, e.g. "ResNet/layer1/conv1".
struct Layer {
  NameId name{};
  LayerId parent = none<LayerId>;
};

enum class TensorCategory : std::uint8_t {
  unknown,
  weight,
  gradient,
  optimizer_state,
  activation,
  temporary,
  communication,
  kv_cache,
  input,
  workspace,  ///< scratch space of a library call
  activation_gradient,
};
inline constexpr std::size_t tensor_category_count = 11;
[[nodiscard]] std::string_view to_string(TensorCategory category);

/// A row of GraphContext::tensors; changes never renumber them.
enum class TensorId : std::uint32_t {};

/// Device memory held from one host task to another (host program order, not device time).
struct Tensor {
  std::int64_t bytes = 0;             ///< of the block that holds it; 0: no longer allocated
  std::int64_t requested_bytes = -1;  ///< what was asked for; -1: not known
  std::int32_t rank = -1;  ///< of one that is there throughout; -1: the first that has its device
  std::int32_t device = 0;
  TensorCategory category = TensorCategory::unknown;
  Phase phase = Phase::unknown;                  ///< in which it is allocated
  Provenance provenance = Provenance::measured;  ///< of its size
  LayerId layer{};                               ///< of the operator that asked for it
  NameId operator_name{};                        ///< innermost one that is not a mere factory
  LaneId stream = none<LaneId>;                  ///< whose pool it is from; none: not known
  TaskId allocated_in = none<TaskId>;            ///< none: before the window
  TaskId freed_in = none<TaskId>;                ///< none: outlives the window
  std::int64_t allocated_offset_ns = 0;          ///< host time before the END of the task's segment
  std::int64_t freed_offset_ns = 0;
  std::uint32_t allocated_sequence = 0;  ///< order among equal times of several threads
  std::uint32_t freed_sequence = 0;
};

/// It has no lifetime: at its place it goes after it came, where others go before any comes.
[[nodiscard]] constexpr bool is_freed_at_once(const Tensor& tensor) {
  return tensor.allocated_in == tensor.freed_in &&
         tensor.allocated_offset_ns == tensor.freed_offset_ns;
}

/// Host time inside the segment before `task` that the same place of other ranks does not take.
struct Stall {
  TaskId task{};
  std::int64_t duration_ns = 0;  ///< the whole silence
  std::int64_t excess_ns = 0;    ///< what it has more than the median of the other ranks
};

/// A piece of the host segment before `task` that a named region of the trace covers.
struct SegmentPart {
  TaskId task{};
  NameId label{};
  LayerId layer{};
  std::int64_t duration_ns = 0;
};

// ---- Points, dependencies, waits ---------------------------------------------------------------

enum class Point : std::uint32_t {};  ///< 2 * task + (0 start | 1 end)
inline constexpr Point no_point = Point{0xFFFFFFFFU};
[[nodiscard]] constexpr Point start_of(TaskId task) {
  return Point{static_cast<std::uint32_t>(task) * 2U};
}
[[nodiscard]] constexpr Point end_of(TaskId task) {
  return Point{static_cast<std::uint32_t>(task) * 2U + 1U};
}
[[nodiscard]] constexpr TaskId task_of(Point point) {
  return TaskId{static_cast<std::uint32_t>(point) / 2U};
}
[[nodiscard]] constexpr bool is_end(Point point) {
  return (static_cast<std::uint32_t>(point) & 1U) != 0;
}
[[nodiscard]] constexpr std::size_t index(Point point) { return static_cast<std::size_t>(point); }

/// `task` starts no earlier than T[source] + lag_ns (+ fraction x duration of the source's task).
struct Dependency {
  Point source = no_point;
  TaskId task{};
  DependencyKind kind = DependencyKind::control;
  std::int64_t lag_ns = 0;
  float fraction = 0;  ///< capacity edges: share of the source's duration, so that it scales
  /// Not none: holds only if T[source] > T[late_after] (a post-latency counts only if it waited).
  Point late_after = no_point;
};

/// What a task waits for, as a rule that commit() resolves: the last operation of a lane (or of
/// every stream of a device) that stands before task `at` in program order.
struct Wait {
  TaskId task{};               ///< the task that waits
  TaskId at{};                 ///< position in program order; may be the task itself
  LaneId lane = none<LaneId>;  ///< the stream; none: every stream of `device`
  std::int32_t rank = 0;
  std::int32_t device = no_device;
  DependencyKind kind = DependencyKind::synchronization;
  std::int64_t lag_ns = 0;
  Point late_after = no_point;
};

}  // namespace foretrace
