// What a collector records: plain structs of our own, one per kind, with times as the recording
// library gave them. Nothing here needs CUPTI.
#pragma once

#include <array>
#include <cstdint>

namespace foretrace::trace::collector {

/// Kinds of records. Numbers are part of the .ftr format: none is used again.
enum class RecordKind : std::uint16_t {
  api = 0,
  kernel = 1,
  copy = 2,
  set = 3,
  synchronization = 4,
  event = 5,
  graph = 6,
  stream = 7,
  context = 8,
  memory = 9,
  range = 10,
  external = 11,
  overhead = 12,
  device = 13,
  clock = 14,
  thread = 15,
  drop = 16,
};
inline constexpr std::size_t record_kinds = 17;

/// A text of the file, by its number; 0 is the empty one.
using TextNumber = std::uint32_t;

/// A call of the runtime or the driver.
struct ApiRecord {
  std::int64_t start = 0;
  std::int64_t end = 0;
  TextNumber name = 0;  ///< "cudaLaunchKernel"
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  std::uint32_t correlation = 0;
  std::uint32_t call_id = 0;
  std::uint32_t result = 0;
  bool is_driver = false;
};

/// Where and for whom a piece of device work ran.
struct DeviceWork {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;
  std::uint32_t graph = 0;       ///< of an executable graph; 0: not launched by one
  std::uint64_t graph_node = 0;  ///< 0: not launched by a graph
};

struct KernelRecord : DeviceWork {
  TextNumber name = 0;  ///< mangled
  std::array<std::int32_t, 3> grid{};
  std::array<std::int32_t, 3> block{};
  std::array<std::uint32_t, 3> cluster{};
  std::uint32_t registers_per_thread = 0;
  std::int32_t static_shared_bytes = 0;
  std::int32_t dynamic_shared_bytes = 0;
  std::uint32_t shared_bytes_executed = 0;
  std::uint32_t local_bytes_per_thread = 0;
};

/// What lies at an end of a copy. Numbers as CUPTI has them.
enum class MemoryPlace : std::uint8_t {
  unknown,
  pageable,
  pinned,
  device,
  array,
  managed,
  device_static,
  managed_static
};
/// Direction of a copy. Numbers as CUPTI has them.
enum class CopyKind : std::uint8_t {
  unknown,
  host_to_device,
  device_to_host,
  host_to_array,
  array_to_host,
  array_to_array,
  array_to_device,
  device_to_array,
  device_to_device,
  host_to_host,
  peer_to_peer
};
struct CopyRecord : DeviceWork {
  std::int64_t bytes = 0;
  CopyKind kind = CopyKind::unknown;
  MemoryPlace from = MemoryPlace::unknown;
  MemoryPlace to = MemoryPlace::unknown;
  std::int32_t to_device = -1;  ///< of a copy between devices; -1: none
  bool is_async = false;
};

struct SetRecord : DeviceWork {
  std::int64_t bytes = 0;
  std::uint32_t value = 0;
  MemoryPlace place = MemoryPlace::unknown;
  bool is_async = false;
};

/// A wait of the host, or of a stream for an event. Numbers as CUPTI has them.
enum class WaitKind : std::uint8_t {
  unknown,
  event_synchronize,
  stream_wait_event,
  stream_synchronize,
  context_synchronize
};
struct SynchronizationRecord {
  std::int64_t start = 0;
  std::int64_t end = 0;
  WaitKind kind = WaitKind::unknown;
  std::uint32_t context = 0;
  std::int64_t stream = -1;        ///< -1: none
  std::int64_t event = -1;         ///< id of the CUDA event; -1: none
  std::uint64_t event_record = 0;  ///< number of the recording waited for; 0: not told
  std::uint32_t correlation = 0;
};

/// A cudaEventRecord.
struct EventRecord {
  std::uint32_t correlation = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t event = 0;
  std::uint64_t event_record = 0;  ///< number of this recording; 0: not told
};

/// A whole graph, where its nodes are not recorded one by one.
struct GraphRecord : DeviceWork {};

struct StreamRecord {
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::int32_t priority = 0;
  std::uint8_t flag = 0;  ///< 0 unknown, 1 default, 2 non-blocking, 3 null, as CUPTI has them
};

struct ContextRecord {
  std::uint32_t context = 0;
  std::uint32_t device = 0;
  std::uint32_t null_stream = 0;
};

/// An allocation or a release by a call of the runtime or the driver.
struct MemoryRecord {
  std::int64_t time = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  std::uint32_t device = 0;
  std::uint32_t correlation = 0;
  MemoryPlace place = MemoryPlace::unknown;
  bool is_release = false;
};

/// One end of a range of NVTX, pushed or started, or a mark. A recording of single steps has three
/// more, written by the recorder: a step begins, the last step that was asked for is over, and
/// recording is switched off (one step later, so that device work of the last one can end).
enum class RangePhase : std::uint8_t { begin, end, mark, step, steps_over, switched_off };
struct RangeRecord {
  std::int64_t time = 0;
  std::uint64_t id = 0;  ///< the same for both ends
  TextNumber name = 0;   ///< 0 at the end
  TextNumber domain = 0;
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  RangePhase phase = RangePhase::mark;
};

/// Ties a call to an id that a framework gave it.
struct ExternalRecord {
  std::uint64_t id = 0;
  std::uint32_t correlation = 0;
  std::uint8_t kind = 0;  ///< 3 to 5: custom, as CUPTI has them
};

/// Time that recording itself took.
struct OverheadRecord {
  std::int64_t start = 0;
  std::int64_t end = 0;
  TextNumber name = 0;
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
};

struct DeviceRecord {
  std::uint32_t id = 0;
  TextNumber name = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t memory_bandwidth = 0;  ///< bytes per second
  std::uint32_t multiprocessors = 0;
  std::uint32_t compute_major = 0;
  std::uint32_t compute_minor = 0;
  std::uint32_t threads_per_multiprocessor = 0;
  std::uint32_t registers_per_multiprocessor = 0;
  std::int64_t shared_bytes_per_multiprocessor = 0;
  std::uint32_t warp_size = 0;
  std::int64_t core_clock_hz = 0;
  std::int64_t l2_bytes = 0;
};

/// The same moment on the clock of the records and on two of the machine.
struct ClockRecord {
  std::int64_t record_time = 0;
  std::int64_t real_time = 0;       ///< since 1970
  std::int64_t monotonic_time = 0;  ///< of this machine
};

struct ThreadRecord {
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  TextNumber name = 0;
};

/// Records that were lost, and where.
enum class DropPlace : std::uint8_t { recorder, writer };
struct DropRecord {
  std::int64_t count = 0;
  std::uint16_t kind = 0;  ///< a RecordKind; of no meaning for `recorder`
  DropPlace place = DropPlace::writer;
};

}  // namespace foretrace::trace::collector
