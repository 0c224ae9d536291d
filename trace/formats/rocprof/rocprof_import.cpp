#include "trace/formats/rocprof/rocprof_import.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/core/integers.h"
#include "sim/core/text.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

constexpr std::string_view root = "rocprofiler-sdk-tool";
constexpr std::string_view process_path = "rocprofiler-sdk-tool/[]";
constexpr std::string_view records_path = "rocprofiler-sdk-tool/[]/buffer_records/";
constexpr std::int32_t hip_memory = 6;  // MemoryEvent::device_type
constexpr std::size_t most_kinds = 1000;

/// "MEMORY_COPY_HOST_TO_DEVICE" -> "Memcpy HtoD", as in traces of PyTorch.
std::string copy_name_of(std::string_view operation) {
  const auto initial = [](std::string_view word) { return word.starts_with("HOST") ? 'H' : 'D'; };
  constexpr std::string_view prefix = "MEMORY_COPY_";
  const std::size_t to = operation.find("_TO_");
  if (!operation.starts_with(prefix) || to == std::string_view::npos) return "Memcpy";
  return fmt::format("Memcpy {}to{}", initial(operation.substr(prefix.size())),
                     initial(operation.substr(to + 4)));
}

}  // namespace

bool RocprofImport::enters(std::string_view path) {
  if (path.empty() || path == root || path == process_path) return true;
  if (!path.starts_with(process_path)) return false;
  const std::string_view rest = path.substr(process_path.size() + 1);
  // A list of records is entered, a record is not.
  return rest == "agents" || rest == "kernel_symbols" || rest == "strings" ||
         rest == "strings/buffer_records" || rest == "strings/marker_api" ||
         rest == "buffer_records" ||
         (rest.starts_with("buffer_records/") && !rest.ends_with("/[]"));
}

void RocprofImport::damage(std::string_view reason, std::uint64_t offset) {
  rows_.skip();
  rows_.drop(reason, {.table = "json", .number = 0, .offset = std::max<std::uint64_t>(offset, 1)});
}

void RocprofImport::take(std::string_view path, std::string_view value, std::uint64_t offset) {
  if (!path.starts_with(process_path) || path.size() <= process_path.size()) return;
  const std::string_view rest = path.substr(process_path.size() + 1);
  const RowPlace place{.table = rest, .number = 0, .offset = std::max<std::uint64_t>(offset, 1)};
  if (rest == "metadata") {
    process_ = std::max<std::int64_t>(0, integer_or(member_of(value, "pid"), 0));
  } else if (rest == "agents/[]") {
    take_agent(value, place);
  } else if (rest == "kernel_symbols/[]") {
    take_symbol(value, place);
  } else if (rest == "strings/buffer_records/[]") {
    take_strings(value);
  } else if (rest == "strings/marker_api/[]") {
    take_message(value);
  } else if (path.starts_with(records_path) && value.starts_with('{')) {
    const Record record = rocprof_record(value);
    const std::string_view list = path.substr(records_path.size());
    if (list == "kernel_dispatch/[]") {
      add_kernel(record, place);
    } else if (list == "memory_copy/[]") {
      add_copy(record, place);
    } else if (list == "hip_api/[]" || list == "hip_runtime_api/[]") {
      add_call(record, EventKind::runtime, place);
    } else if (list == "marker_api/[]") {
      add_call(record, EventKind::user_annotation, place);
    } else if (list == "rccl_api/[]") {
      add_call(record, EventKind::cpu_op, place);
    } else if (list == "memory_allocation/[]") {
      add_allocation(record, place);
    } else {
      rows_.skip();  // HSA calls, scratch memory, decoders, samples
    }
  }
}

void RocprofImport::take_agent(std::string_view value, RowPlace place) {
  constexpr std::int64_t gpu = 2;
  if (integer_or(member_of(value, "type"), 0) != gpu) return;
  DeviceProperties device;
  const std::int64_t gpu_index = integer_or(member_of(value, "gpu_index"), -1);
  device.id = clamped_int32(
      gpu_index >= 0 ? gpu_index : integer_or(member_of(value, "logical_node_type_id"), 0));
  const NameId name = rows_.intern(text_of(member_of(value, "product_name")), place);
  device.name = std::string(table_.names[name]);
  device.multiprocessors = clamped_int32(integer_or(member_of(value, "cu_count"), 0));
  device.warp_size = clamped_int32(integer_or(member_of(value, "wave_front_size"), 0));
  constexpr std::int64_t most = 4096;
  const auto factor = [&](std::string_view key) {
    return std::clamp<std::int64_t>(integer_or(member_of(value, key), 0), 0, most);
  };
  device.max_threads_per_multiprocessor = clamped_int32(
      factor("simd_per_cu") * factor("max_waves_per_simd") * factor("wave_front_size"));
  device.shared_memory_per_multiprocessor = factor("lds_size_in_kb") * 1024;
  ListElements banks(member_of(value, "mem_banks"));
  while (banks.next()) {
    constexpr std::int64_t largest = std::int64_t{1} << 50;
    device.total_memory_bytes += std::clamp<std::int64_t>(
        integer_or(member_of(banks.value(), "size_in_bytes"), 0), 0, largest);
  }
  device_of_agent_[handle_of(member_of(value, "id"))] = device.id;
  if (listed_.insert(device.id).second) {
    table_.info.devices.push_back(device);
  }
}

void RocprofImport::take_symbol(std::string_view value, RowPlace place) {
  std::string name = text_of(member_of(value, "demangled_kernel_name"));
  if (name.empty()) {
    name = text_of(member_of(value, "kernel_name"));
  }
  // What AMD's compiler adds to the name of a kernel's descriptor.
  for (const std::string_view suffix : {" [clone .kd]", ".kd"}) {
    if (name.ends_with(suffix)) {
      name.resize(name.size() - suffix.size());
    }
  }
  kernels_[integer_or(member_of(value, "kernel_id"), -1)] = {
      .name = rows_.intern(name, place),
      .registers = integer_or(member_of(value, "arch_vgpr_count"), 0)};
}

void RocprofImport::take_strings(std::string_view value) {
  if (operations_.size() >= most_kinds) return;
  std::vector<NameId> names;
  ListElements operations(member_of(value, "operations"));
  while (operations.next()) {
    names.push_back(rows_.intern(text_of(operations.value()), {.table = "strings"}));
  }
  operations_.push_back(std::move(names));
}

void RocprofImport::take_message(std::string_view value) {
  const std::int64_t key = integer_or(member_of(value, "key"), -1);
  messages_[key] = rows_.intern(text_of(member_of(value, "value")), {.table = "strings"});
}

NameId RocprofImport::operation_name(const Record& record) {
  const auto kind = static_cast<std::size_t>(record.kind);
  const auto operation = static_cast<std::size_t>(record.operation);
  if (record.kind >= 0 && kind < operations_.size() && record.operation >= 0 &&
      operation < operations_[kind].size()) {
    return operations_[kind][operation];
  }
  return table_.names.intern(fmt::format("operation {} of kind {}", record.operation, record.kind));
}

std::int32_t RocprofImport::device_of(std::int64_t agent) const {
  const auto found = device_of_agent_.find(agent);
  return found == device_of_agent_.end() ? -1 : found->second;
}

void RocprofImport::add_kernel(const Record& record, RowPlace place) {
  if (!record.has_times) {
    damage("no time", place.offset);
    return;
  }
  const auto kernel = kernels_.find(record.kernel);
  const NameId name = kernel != kernels_.end()
                          ? kernel->second.name
                          : table_.names.intern(fmt::format("kernel {}", record.kernel));
  Descriptor descriptor;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    // A grid is counted in threads here, in blocks everywhere else.
    const std::int64_t block = std::max<std::int64_t>(1, record.workgroup[axis]);
    const std::int64_t threads = std::max<std::int64_t>(0, record.grid[axis]);
    descriptor.block[axis] = clamped_int32(record.workgroup[axis]);
    descriptor.grid[axis] = clamped_int32(threads / block + (threads % block == 0 ? 0 : 1));
  }
  descriptor.registers_per_thread =
      kernel != kernels_.end() ? clamped_int32(kernel->second.registers) : 0;
  descriptor.shared_memory_bytes = clamped_int32(record.shared_memory);
  const std::string_view text = table_.names[name];
  const EventKind kind = contains(text, "amd_rocclr_copyBuffer")   ? EventKind::copy
                         : contains(text, "amd_rocclr_fillBuffer") ? EventKind::set
                                                                   : EventKind::kernel;
  // Older versions know no streams, only hardware queues.
  const std::int64_t stream = record.stream >= 0 ? record.stream : record.queue;
  work_ += rows_.add({.kind = kind,
                      .name = name,
                      .track = rows_.stream(process_, device_of(record.agent), stream),
                      .start_ns = record.start_ns,
                      .end_ns = record.end_ns,
                      .scope = process_,
                      .correlation = record.correlation,
                      .descriptor = rows_.intern(descriptor)},
                     place)
               ? 1
               : 0;
}

void RocprofImport::add_copy(const Record& record, RowPlace place) {
  if (!record.has_times) {
    damage("no time", place.offset);
    return;
  }
  const std::string name = copy_name_of(table_.names[operation_name(record)]);
  const std::int32_t target = device_of(record.agent);
  const std::int32_t device = target >= 0 ? target : device_of(record.source_agent);
  // Without a stream: copies of one direction have an engine of their own.
  const std::int64_t engine = -2 - std::max<std::int64_t>(0, record.operation);
  Descriptor descriptor;
  descriptor.bytes = std::max<std::int64_t>(-1, record.bytes);
  work_ +=
      rows_.add(
          {.kind = EventKind::copy,
           .name = table_.names.intern(name),
           .track = rows_.stream(process_, device, record.stream >= 0 ? record.stream : engine),
           .start_ns = record.start_ns,
           .end_ns = record.end_ns,
           .scope = process_,
           .correlation = record.correlation,
           .descriptor = rows_.intern(descriptor)},
          place)
          ? 1
          : 0;
}

void RocprofImport::add_call(const Record& record, EventKind kind, RowPlace place) {
  if (!record.has_times) {
    damage("no time", place.offset);
    return;
  }
  NameId name = operation_name(record);
  if (kind == EventKind::user_annotation) {
    const auto message = messages_.find(record.correlation);
    name = message == messages_.end() ? name : message->second;
  }
  const bool is_call = kind == EventKind::runtime;
  const bool added = rows_.add({.kind = kind,
                                .name = name,
                                .track = rows_.thread(process_, record.thread),
                                .start_ns = record.start_ns,
                                .end_ns = record.end_ns,
                                .scope = process_,
                                .correlation = is_call ? record.correlation : 0},
                               place);
  launches_ += added && is_call ? 1 : 0;
}

void RocprofImport::add_allocation(const Record& record, RowPlace place) {
  const std::int32_t device = device_of(record.agent);
  const bool frees = contains(table_.names[operation_name(record)], "FREE");
  if (!record.has_times || (device < 0 && !frees)) {
    rows_.skip();  // memory of the host
    return;
  }
  MemoryEvent memory;
  memory.bytes = record.bytes;
  if (frees) {  // says where, not how much
    const auto known = sizes_.find(record.address);
    if (known == sizes_.end()) {
      rows_.skip();
      return;
    }
    memory.bytes = -known->second;
    sizes_.erase(known);
  } else {
    sizes_[record.address] = std::max<std::int64_t>(0, record.bytes);
  }
  memory.time_ns = record.start_ns;
  memory.track = rows_.thread(process_, record.thread);
  memory.device_type = hip_memory;
  memory.device = std::max(device, 0);
  memory.address = static_cast<std::uint64_t>(record.address);
  rows_.add(memory, place);
}

void RocprofImport::end_process() {
  device_of_agent_.clear();
  kernels_.clear();
  operations_.clear();
  messages_.clear();
  sizes_.clear();
  process_ = 0;
}

void RocprofImport::finish() {
  table_.info.is_hip = true;
  std::sort(table_.info.devices.begin(), table_.info.devices.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  if (work_ > 0 && launches_ == 0) {
    report_.warnings.emplace_back(
        "no HIP calls are recorded (rocprofv3 --hip-trace or --sys-trace): GPU work keeps its "
        "recorded gaps, so CPU what-ifs have no effect");
  }
  rows_.finish();
}

}  // namespace foretrace::trace::formats
