// Device side of an Nsight Systems export: kernels, copies, sets, graphs, synchronization, memory.
#include <algorithm>

#include <fmt/format.h>

#include "sim/core/integers.h"
#include "trace/formats/common/nsys_names.h"
#include "trace/formats/nsys/nsys_import.h"

namespace foretrace::trace::formats {
namespace {

// Streams and events that a record does not name.
constexpr std::int64_t no_stream = 0xFFFFFFFF;

std::int64_t stream_or_none(std::int64_t stream) { return stream == no_stream ? -1 : stream; }

// Places of the columns that kernels, copies, sets and graphs share.
enum Shared : std::size_t { start_at, end_at, process_at, device_at, stream_at, correlation_at };

}  // namespace

std::int64_t NsysImport::device_of(std::int64_t process, std::int64_t device) const {
  const auto found = device_ids_.find({process, device});
  return found == device_ids_.end() ? device : found->second;
}

// Processes count their devices from 0; the machine's numbers tell them apart.
void NsysImport::read_device_ids() {
  TableScan scan(file_, "TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid"});
  while (scan.next()) {
    const auto gpu = scan.integer(0);
    const auto device = scan.integer(1);
    const auto process = scan.integer(2);
    if (gpu && device && process) {
      device_ids_[{*process, *device}] = *gpu;
    }
  }
  close(scan, "TARGET_INFO_CUDA_DEVICE");
}

void NsysImport::read_devices() {
  TableScan scan(file_, "TARGET_INFO_GPU",
                 {"id", "name", "totalMemory", "smCount", "computeMajor", "computeMinor",
                  "threadsPerWarp", "maxWarpsPerSm", "maxRegistersPerSm", "maxShmemPerSm"});
  while (scan.next()) {
    DeviceProperties device;
    device.id = clamped_int32(scan.integer_or(0, 0));
    device.name =
        table_
            .names[rows_.intern(scan.text(1), {.table = "TARGET_INFO_GPU", .number = scan.row()})];
    device.total_memory_bytes = std::max<std::int64_t>(0, scan.integer_or(2, 0));
    device.multiprocessors = clamped_int32(scan.integer_or(3, 0));
    device.compute_major = clamped_int32(scan.integer_or(4, 0));
    device.compute_minor = clamped_int32(scan.integer_or(5, 0));
    device.warp_size = clamped_int32(scan.integer_or(6, 0));
    constexpr std::int64_t most_warps = 4096;
    device.max_threads_per_multiprocessor =
        clamped_int32(std::min<std::int64_t>(device.warp_size, most_warps) *
                      std::clamp<std::int64_t>(scan.integer_or(7, 0), 0, most_warps));
    device.registers_per_multiprocessor = clamped_int32(scan.integer_or(8, 0));
    device.shared_memory_per_multiprocessor = std::max<std::int64_t>(0, scan.integer_or(9, 0));
    table_.info.devices.push_back(device);
  }
  close(scan, "TARGET_INFO_GPU");
  std::sort(table_.info.devices.begin(), table_.info.devices.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
}

bool NsysImport::add_operation(TableScan& scan, EventRow row, RowPlace place) {
  const auto start = scan.integer(start_at);
  const auto end = scan.integer(end_at);
  if (!start || !end) {
    rows_.skip();
    rows_.drop("no time", place);
    return false;
  }
  const std::int64_t process = process_of(scan, process_at);
  row.track = rows_.stream(process, device_of(process, scan.integer_or(device_at, 0)),
                           scan.integer_or(stream_at, 0));
  row.start_ns = *start;
  row.end_ns = *end;
  row.scope = process;
  row.correlation = scan.integer_or(correlation_at, 0);
  return rows_.add(row, place);
}

void NsysImport::read_kernels() {
  constexpr std::string_view table = "CUPTI_ACTIVITY_KIND_KERNEL";
  TableScan scan(
      file_, table,
      {"start", "end", "globalPid", "deviceId", "streamId", "correlationId", "demangledName",
       "shortName", "mangledName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
       "registersPerThread", "staticSharedMemory", "dynamicSharedMemory", "name"});
  enum : std::size_t {
    demangled_at = 6,
    grid_at = 9,
    block_at = 12,
    registers_at = 15,
    name_at = 18
  };
  while (scan.next()) {
    const RowPlace place{.table = table, .number = scan.row(), .offset = 0};
    std::string_view name = scan.text(name_at);
    for (std::size_t column = demangled_at; column < grid_at && name.empty(); ++column) {
      name = string(scan.integer_or(column, -1));
    }
    Descriptor descriptor;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      descriptor.grid[axis] = clamped_int32(scan.integer_or(grid_at + axis, 0));
      descriptor.block[axis] = clamped_int32(scan.integer_or(block_at + axis, 0));
    }
    descriptor.registers_per_thread = clamped_int32(scan.integer_or(registers_at, 0));
    descriptor.shared_memory_bytes =
        clamped_int32(std::int64_t{clamped_int32(scan.integer_or(registers_at + 1, 0))} +
                      clamped_int32(scan.integer_or(registers_at + 2, 0)));
    add_operation(scan,
                  {.kind = EventKind::kernel,
                   .name = rows_.intern(name, place),
                   .descriptor = rows_.intern(descriptor)},
                  place);
  }
  close(scan, table);
}

void NsysImport::read_copies() {
  constexpr std::string_view table = "CUPTI_ACTIVITY_KIND_MEMCPY";
  TableScan scan(file_, table,
                 {"start", "end", "globalPid", "deviceId", "streamId", "correlationId", "bytes",
                  "copyKind", "srcKind", "dstKind"});
  while (scan.next()) {
    const RowPlace place{.table = table, .number = scan.row(), .offset = 0};
    const std::string name =
        copy_name(scan.integer_or(7, 0), scan.integer_or(8, -1), scan.integer_or(9, -1));
    Descriptor descriptor;
    descriptor.bytes = std::max<std::int64_t>(-1, scan.integer_or(6, -1));
    add_operation(scan,
                  {.kind = EventKind::copy,
                   .name = table_.names.intern(name),
                   .descriptor = rows_.intern(descriptor)},
                  place);
  }
  close(scan, table);
}

void NsysImport::read_sets() {
  constexpr std::string_view table = "CUPTI_ACTIVITY_KIND_MEMSET";
  TableScan scan(
      file_, table,
      {"start", "end", "globalPid", "deviceId", "streamId", "correlationId", "bytes", "memKind"});
  while (scan.next()) {
    Descriptor descriptor;
    descriptor.bytes = std::max<std::int64_t>(-1, scan.integer_or(6, -1));
    add_operation(scan,
                  {.kind = EventKind::set,
                   .name = table_.names.intern(set_name(scan.integer_or(7, -1))),
                   .descriptor = rows_.intern(descriptor)},
                  {.table = table, .number = scan.row()});
  }
  close(scan, table);
}

// Recorded as a whole (--cuda-graph-trace=graph), a launch of a graph is one piece of device work.
void NsysImport::read_graphs() {
  constexpr std::string_view table = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
  TableScan scan(file_, table,
                 {"start", "end", "globalPid", "deviceId", "streamId", "correlationId", "graphId"});
  std::uint64_t count = 0;
  while (scan.next()) {
    const std::string name = fmt::format("CUDA graph {}", scan.integer_or(6, 0));
    count += add_operation(scan, {.kind = EventKind::kernel, .name = table_.names.intern(name)},
                           {.table = table, .number = scan.row()})
                 ? 1
                 : 0;
  }
  close(scan, table);
  if (count > 0) {
    report_.warnings.push_back(
        fmt::format("{} launches of CUDA graphs are recorded as one operation each; record with "
                    "--cuda-graph-trace=node to see their kernels",
                    count));
  }
}

void NsysImport::read_cuda_events() {
  constexpr std::string_view table = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";
  TableScan scan(file_, table,
                 {"globalPid", "eventId", "eventSyncId", "streamId", "correlationId"});
  while (scan.next()) {
    rows_.skip();
    const std::int64_t process = process_of(scan, 0);
    const CudaEvent event{.stream = stream_or_none(scan.integer_or(3, -1)),
                          .correlation = scan.integer_or(4, -1)};
    // Calls are numbered in order: a wait is for the last record before it.
    const std::int64_t record = scan.integer(2) ? scan.integer_or(2, -1) : event.correlation;
    cuda_events_[{process, scan.integer_or(1, -1), record}] = event;
  }
  close(scan, table);
}

void NsysImport::find_record(SyncRecord& sync, std::int64_t process, std::int64_t event,
                             std::int64_t record) const {
  if (event < 0 || event == no_stream) return;
  auto found = cuda_events_.find({process, event, record});
  if (record < 0 && !cuda_events_.empty()) {
    found = cuda_events_.lower_bound({process, event, sync.correlation});
    const bool before = found != cuda_events_.begin();
    found = before ? std::prev(found) : cuda_events_.end();
    if (before && (std::get<0>(found->first) != process || std::get<1>(found->first) != event)) {
      found = cuda_events_.end();
    }
  }
  if (found != cuda_events_.end()) {
    sync.wait_on_stream = found->second.stream;
    sync.record_correlation = found->second.correlation;
  }
}

void NsysImport::read_syncs() {
  constexpr std::string_view table = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
  TableScan scan(file_, table,
                 {"start", "end", "globalPid", "deviceId", "streamId", "correlationId", "syncType",
                  "eventId", "eventSyncId"});
  while (scan.next()) {
    const RowPlace place{.table = table, .number = scan.row(), .offset = 0};
    const auto start = scan.integer(start_at);
    const auto end = scan.integer(end_at);
    constexpr std::int64_t farthest = std::int64_t{1} << 61;
    if (!start || !end || *start < -farthest || *end > farthest || *end < *start) {
      rows_.skip();
      rows_.drop(start && end ? "time out of range" : "no time", place);
      continue;
    }
    const std::int64_t process = process_of(scan, process_at);
    SyncRecord sync;
    sync.device = clamped_int32(device_of(process, scan.integer_or(device_at, 0)));
    sync.stream = stream_or_none(scan.integer_or(stream_at, -1));
    sync.correlation = scan.integer_or(correlation_at, -1);
    sync.start_ns = *start;
    sync.duration_ns = *end - *start;
    // The numbers of types have changed their meaning between versions; the call has not.
    const auto call = sync_calls_.find({process, sync.correlation});
    sync.kind = call != sync_calls_.end() ? call->second : sync_kind_of_type(scan.integer_or(6, 0));
    if (sync.kind == SyncKind::event_sync || sync.kind == SyncKind::stream_wait) {
      constexpr std::int64_t unknown_record = no_stream;
      const std::int64_t record = scan.integer_or(8, -1);
      find_record(sync, process, scan.integer_or(7, -1), record == unknown_record ? -1 : record);
    }
    rows_.add(sync, process, place);
  }
  close(scan, table);
}

void NsysImport::read_memory() {
  constexpr std::string_view table = "CUDA_GPU_MEMORY_USAGE_EVENTS";
  TableScan scan(file_, table,
                 {"start", "globalPid", "deviceId", "address", "bytes", "memKind",
                  "memoryOperationType", "correlationId"});
  enum : std::int64_t { device_memory = 2, allocation = 0, cuda = 1 };
  while (scan.next()) {
    const RowPlace place{.table = table, .number = scan.row(), .offset = 0};
    const auto start = scan.integer(0);
    const auto bytes = scan.integer(4);
    if (!start || !bytes || *bytes < 0 || scan.integer_or(5, device_memory) != device_memory) {
      rows_.skip();
      if (!start || !bytes || *bytes < 0) {
        rows_.drop("memory event without time or bytes", place);
      }
      continue;
    }
    const std::int64_t process = process_of(scan, 1);
    const auto call = call_tracks_.find({process, scan.integer_or(7, -1)});
    MemoryEvent memory;
    memory.time_ns = *start;
    memory.track = call != call_tracks_.end() ? call->second : rows_.thread(process, process);
    memory.device_type = cuda;
    memory.device = clamped_int32(device_of(process, scan.integer_or(2, 0)));
    memory.bytes = scan.integer_or(6, allocation) == allocation ? *bytes : -*bytes;
    memory.address = static_cast<std::uint64_t>(scan.integer_or(3, 0));
    rows_.add(memory, place);
  }
  close(scan, table);
}

}  // namespace foretrace::trace::formats
