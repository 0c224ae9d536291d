#include "trace/collect/cupti/translate.h"

#include <cstring>

namespace foretrace::trace::collector {
namespace {

std::int64_t time_of(std::uint64_t time) { return static_cast<std::int64_t>(time); }

const char* overhead_name(CUpti_ActivityOverheadKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER: return "Driver Compiler";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH: return "Buffer Flush";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION: return "Instrumentation";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE: return "Resource";
    case CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING:
      return "Runtime Triggered Module Loading";
    case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING: return "Lazy Function Loading";
    case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL: return "Command Buffer Full";
    case CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST: return "Activity Buffer Request";
    case CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT: return "UVM Activity Init";
    default: return "Unknown Overhead";
  }
}

struct Thread {
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
};
Thread thread_of(CUpti_ActivityObjectKind kind, const CUpti_ActivityObjectKindId& id) {
  const bool known = kind == CUPTI_ACTIVITY_OBJECT_THREAD || kind == CUPTI_ACTIVITY_OBJECT_PROCESS;
  return known ? Thread{id.pt.processId, kind == CUPTI_ACTIVITY_OBJECT_THREAD ? id.pt.threadId : 0}
               : Thread{};
}

// What all device work has; members have the same names in every kind of activity.
template <typename Record, typename Activity>
Record work_of(const Activity& activity) {
  Record record;
  record.start = time_of(activity.start);
  record.end = time_of(activity.end);
  record.device = activity.deviceId;
  record.context = activity.contextId;
  record.stream = activity.streamId;
  record.correlation = activity.correlationId;
  record.graph = activity.graphId;
  return record;
}

KernelRecord kernel_of(const CUpti_ActivityKernel10& kernel, TextNumber name) {
  auto record = work_of<KernelRecord>(kernel);
  record.graph_node = kernel.graphNodeId;
  record.name = name;
  record.grid = {kernel.gridX, kernel.gridY, kernel.gridZ};
  record.block = {kernel.blockX, kernel.blockY, kernel.blockZ};
  record.cluster = {kernel.clusterX, kernel.clusterY, kernel.clusterZ};
  record.registers_per_thread = kernel.registersPerThread;
  record.static_shared_bytes = kernel.staticSharedMemory;
  record.dynamic_shared_bytes = kernel.dynamicSharedMemory;
  record.shared_bytes_executed = kernel.sharedMemoryExecuted;
  record.local_bytes_per_thread = kernel.localMemoryPerThread;
  return record;
}

template <typename Activity>
CopyRecord copy_of(const Activity& copy) {
  auto record = work_of<CopyRecord>(copy);
  record.graph_node = copy.graphNodeId;
  record.bytes = static_cast<std::int64_t>(copy.bytes);
  record.kind = static_cast<CopyKind>(copy.copyKind);
  record.from = static_cast<MemoryPlace>(copy.srcKind);
  record.to = static_cast<MemoryPlace>(copy.dstKind);
  record.is_async = (copy.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0;
  return record;
}

SetRecord set_of(const CUpti_ActivityMemset4& set) {
  auto record = work_of<SetRecord>(set);
  record.graph_node = set.graphNodeId;
  record.bytes = static_cast<std::int64_t>(set.bytes);
  record.value = set.value;
  record.place = static_cast<MemoryPlace>(set.memoryKind);
  record.is_async = (set.flags & CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC) != 0;
  return record;
}

MemoryRecord memory_of(const CUpti_ActivityMemory4& memory) {
  MemoryRecord record;
  record.time = time_of(memory.timestamp);
  record.address = memory.address;
  record.bytes = static_cast<std::int64_t>(memory.bytes);
  record.process = memory.processId;
  record.device = memory.deviceId;
  record.correlation = memory.correlationId;
  record.place = static_cast<MemoryPlace>(memory.memoryKind);
  record.is_release = memory.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  return record;
}

RangePhase phase_of(CUpti_ActivityFlag flags) {
  if ((flags & CUPTI_ACTIVITY_FLAG_MARKER_START) != 0) return RangePhase::begin;
  return (flags & CUPTI_ACTIVITY_FLAG_MARKER_END) != 0 ? RangePhase::end : RangePhase::mark;
}

// Activities are packed; a copy has the alignment that members are read with.
template <typename Activity>
Activity copied(const CUpti_Activity& activity) {
  Activity copy;
  std::memcpy(&copy, &activity, sizeof copy);
  return copy;
}

}  // namespace

TextNumber Translator::text(const char* text) { return text == nullptr ? 0 : writer_.text(text); }

void Translator::add_overhead(const CUpti_ActivityOverhead3& overhead) {
  const Thread thread = thread_of(overhead.objectKind, overhead.objectId);
  writer_.add(OverheadRecord{time_of(overhead.start), time_of(overhead.end),
                             text(overhead_name(overhead.overheadKind)), thread.process,
                             thread.thread});
}

void Translator::add_device(const CUpti_ActivityDevice5& device) {
  constexpr std::int64_t kilo = 1000;
  DeviceRecord record;
  record.id = device.id;
  record.name = text(device.name);
  record.memory_bytes = static_cast<std::int64_t>(device.globalMemorySize);
  record.memory_bandwidth = static_cast<std::int64_t>(device.globalMemoryBandwidth) * kilo;  // kB/s
  record.multiprocessors = device.numMultiprocessors;
  record.compute_major = device.computeCapabilityMajor;
  record.compute_minor = device.computeCapabilityMinor;
  record.threads_per_multiprocessor = device.maxWarpsPerMultiprocessor * device.numThreadsPerWarp;
  record.registers_per_multiprocessor = device.maxRegistersPerMultiprocessor;
  record.shared_bytes_per_multiprocessor = device.maxSharedMemoryPerMultiprocessor;
  record.warp_size = device.numThreadsPerWarp;
  record.core_clock_hz = std::int64_t{device.coreClockRate} * kilo;  // kHz
  record.l2_bytes = device.l2CacheSize;
  writer_.add(record);
}

bool Translator::add(const CUpti_Activity& activity) {
  switch (activity.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      ++device_work_;
      const auto kernel = copied<CUpti_ActivityKernel10>(activity);
      writer_.add(kernel_of(kernel, text(kernel.name)));
      return true;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      ++device_work_;
      writer_.add(copy_of(copied<CUpti_ActivityMemcpy6>(activity)));
      return true;
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      ++device_work_;
      const auto copy = copied<CUpti_ActivityMemcpyPtoP4>(activity);
      CopyRecord record = copy_of(copy);
      record.to_device = static_cast<std::int32_t>(copy.dstDeviceId);
      writer_.add(record);
      return true;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET:
      ++device_work_;
      writer_.add(set_of(copied<CUpti_ActivityMemset4>(activity)));
      return true;
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      ++device_work_;
      writer_.add(work_of<GraphRecord>(copied<CUpti_ActivityGraphTrace2>(activity)));
      return true;
    case CUPTI_ACTIVITY_KIND_STREAM: {
      const auto stream = copied<CUpti_ActivityStream>(activity);
      writer_.add(StreamRecord{stream.contextId, stream.streamId,
                               static_cast<std::int32_t>(stream.priority),
                               static_cast<std::uint8_t>(stream.flag)});
      return true;
    }
    case CUPTI_ACTIVITY_KIND_CONTEXT: {
      const auto context = copied<CUpti_ActivityContext3>(activity);
      writer_.add(ContextRecord{context.contextId, context.deviceId, context.nullStreamId});
      return true;
    }
    default: return add_rare(activity);
  }
}

bool Translator::add_rare(const CUpti_Activity& activity) {
  switch (activity.kind) {
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      writer_.add(memory_of(copied<CUpti_ActivityMemory4>(activity)));
      return true;
    case CUPTI_ACTIVITY_KIND_MARKER: {
      const auto marker = copied<CUpti_ActivityMarker2>(activity);
      const Thread thread = thread_of(marker.objectKind, marker.objectId);
      writer_.add(RangeRecord{time_of(marker.timestamp), marker.id, text(marker.name),
                              text(marker.domain), thread.process, thread.thread,
                              phase_of(marker.flags)});
      return true;
    }
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto external = copied<CUpti_ActivityExternalCorrelation>(activity);
      writer_.add(ExternalRecord{external.externalId, external.correlationId,
                                 static_cast<std::uint8_t>(external.externalKind)});
      return true;
    }
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      add_overhead(copied<CUpti_ActivityOverhead3>(activity));
      return true;
    case CUPTI_ACTIVITY_KIND_DEVICE:
      add_device(copied<CUpti_ActivityDevice5>(activity));
      return true;
    case CUPTI_ACTIVITY_KIND_NAME: {
      const auto named = copied<CUpti_ActivityName>(activity);
      const Thread thread = thread_of(named.objectKind, named.objectId);
      if (thread.thread != 0) {
        writer_.add(ThreadRecord{thread.process, thread.thread, text(named.name)});
      }
      return true;
    }
    default: return false;
  }
}

}  // namespace foretrace::trace::collector
