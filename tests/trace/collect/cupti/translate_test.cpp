// CUPTI's own structs, filled by hand, through translator, file and reader. Where CUPTI's headers
// are; no device is needed.
#ifdef FORETRACE_HAS_CUPTI
#include "trace/collect/cupti/translate.h"

#include <cstring>
#include <string>

#include <doctest/doctest.h>

#include "tests/trace/collect/record_helpers.h"
#include "tests/trace/formats/read_helpers.h"

namespace foretrace::trace::collector {
namespace {

/// Everything is 0 but for the kind.
template <typename Activity>
Activity blank(CUpti_ActivityKind kind) {
  Activity activity;
  std::memset(&activity, 0, sizeof activity);
  activity.kind = kind;
  return activity;
}

/// What one activity after the other becomes.
class Translation {
 public:
  template <typename Activity>
  bool add(const Activity& activity) {
    return translator_.add(*reinterpret_cast<const CUpti_Activity*>(&activity));
  }
  LoadedTrace trace() {
    REQUIRE(writer_.finish());
    return read_bytes("ftr", file_);
  }

 private:
  std::string file_;
  RecordWriter writer_{sink_to(file_), {}};
  Translator translator_{writer_};
};

template <typename Activity>
void place(Activity& activity, std::uint64_t start, std::uint32_t correlation) {
  activity.start = start;
  activity.end = start + 50;
  activity.deviceId = 1;
  activity.contextId = 4;
  activity.streamId = 7;
  activity.correlationId = correlation;
}

TEST_CASE("cupti: kernels, with and without a graph") {
  Translation translation;
  auto kernel = blank<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  place(kernel, 1000, 70);
  kernel.name = "_Z3addPfS_";
  kernel.gridX = 10;
  kernel.gridY = 2;
  kernel.gridZ = 1;
  kernel.blockX = 128;
  kernel.blockY = 1;
  kernel.blockZ = 1;
  kernel.registersPerThread = 40;
  kernel.staticSharedMemory = 1024;
  kernel.dynamicSharedMemory = 512;
  CHECK(translation.add(kernel));
  kernel.start = 2000;
  kernel.end = 2001;
  kernel.graphId = 3;
  kernel.graphNodeId = 99;
  kernel.name = nullptr;
  CHECK(translation.add(kernel));
  const LoadedTrace trace = translation.trace();
  REQUIRE(trace.events.size() == 2);
  CHECK(trace.events.name_of(EventId{0}) == "add(float*, float*)");
  CHECK(trace.events.duration_ns[0] == 50);
  const Descriptor& d = descriptor_of(trace.events, EventId{0});
  CHECK(d.grid == std::array<std::int32_t, 3>{10, 2, 1});
  CHECK(d.block == std::array<std::int32_t, 3>{128, 1, 1});
  CHECK(d.registers_per_thread == 40);
  CHECK(d.shared_memory_bytes == 1536);
  CHECK(track_of(trace.events, EventId{0}).device == 1);
  CHECK(track_of(trace.events, EventId{0}).number == 7);
  CHECK(trace.events.names[descriptor_of(trace.events, EventId{1}).text] ==
        R"({"graph id": 3, "graph node id": 99})");
}

TEST_CASE("cupti: copies, copies between devices, sets and whole graphs") {
  Translation translation;
  auto copy = blank<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
  place(copy, 1000, 70);
  copy.bytes = 4096;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  CHECK(translation.add(copy));
  auto peer = blank<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2);
  place(peer, 2000, 71);
  peer.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  peer.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  peer.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  CHECK(translation.add(peer));
  auto set = blank<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET);
  place(set, 3000, 72);
  set.bytes = 64;
  set.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
  CHECK(translation.add(set));
  auto graph = blank<CUpti_ActivityGraphTrace2>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  place(graph, 4000, 73);
  graph.graphId = 8;
  CHECK(translation.add(graph));
  const EventTable table = translation.trace().events;
  REQUIRE(table.size() == 4);
  CHECK(table.name_of(EventId{0}) == "Memcpy DtoH (Device -> Pinned)");
  CHECK(descriptor_of(table, EventId{0}).bytes == 4096);
  CHECK(table.name_of(EventId{1}) == "Memcpy PtoP (Device -> Device)");
  CHECK(table.name_of(EventId{2}) == "Memset (Managed)");
  CHECK(table.name_of(EventId{3}) == "CUDA graph 8, whole");
}

TEST_CASE("cupti: contexts and streams") {
  Translation translation;
  auto context = blank<CUpti_ActivityContext3>(CUPTI_ACTIVITY_KIND_CONTEXT);
  context.contextId = 4;
  context.deviceId = 1;
  CHECK(translation.add(context));
  auto stream = blank<CUpti_ActivityStream>(CUPTI_ACTIVITY_KIND_STREAM);
  stream.contextId = 4;
  stream.streamId = 20;
  CHECK(translation.add(stream));
  auto kernel = blank<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  place(kernel, 1000, 70);
  kernel.streamId = 20;
  CHECK(translation.add(kernel));
  CHECK(translation.trace().events.size() == 1);
}

TEST_CASE("cupti: ranges, thread names, overhead, external ids, memory and devices") {
  Translation translation;
  auto marker = blank<CUpti_ActivityMarker2>(CUPTI_ACTIVITY_KIND_MARKER);
  marker.flags = CUPTI_ACTIVITY_FLAG_MARKER_START;
  marker.timestamp = 1000;
  marker.id = 12;
  marker.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  marker.objectId.pt.processId = 5;
  marker.objectId.pt.threadId = 6;
  marker.name = "step 1";
  CHECK(translation.add(marker));
  marker.flags = CUPTI_ACTIVITY_FLAG_MARKER_END;
  marker.timestamp = 1900;
  marker.name = nullptr;
  CHECK(translation.add(marker));
  auto named = blank<CUpti_ActivityName>(CUPTI_ACTIVITY_KIND_NAME);
  named.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  named.objectId.pt.processId = 5;
  named.objectId.pt.threadId = 6;
  named.name = "main";
  CHECK(translation.add(named));
  auto overhead = blank<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD);
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
  overhead.start = 1100;
  overhead.end = 1110;
  CHECK(translation.add(overhead));
  auto external =
      blank<CUpti_ActivityExternalCorrelation>(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  external.externalId = 41;
  external.correlationId = 70;
  CHECK(translation.add(external));
  auto kernel = blank<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  place(kernel, 1200, 70);
  CHECK(translation.add(kernel));
  auto memory = blank<CUpti_ActivityMemory4>(CUPTI_ACTIVITY_KIND_MEMORY2);
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  memory.timestamp = 1205;
  memory.bytes = 256;
  memory.address = 0x1000;
  CHECK(translation.add(memory));
  auto device = blank<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE);
  device.name = "NVIDIA H200";
  device.globalMemorySize = 150'000'000'000;
  device.numMultiprocessors = 132;
  device.maxWarpsPerMultiprocessor = 64;
  device.numThreadsPerWarp = 32;
  device.computeCapabilityMajor = 9;
  CHECK(translation.add(device));
  auto other = blank<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_PCIE);
  CHECK_FALSE(translation.add(other));
  const EventTable table = translation.trace().events;
  const EventId step = event_called(table, "step 1");
  CHECK(table.duration_ns[index(step)] == 900);
  CHECK(table.names[track_of(table, step).name] == "main");
  CHECK(table.kind[index(event_called(table, "Buffer Flush"))] == EventKind::overhead);
  REQUIRE(table.memory.size() == 1);
  CHECK(table.memory[0].bytes == -256);
  CHECK(table.memory[0].address == 0x1000);
  REQUIRE(table.info.devices.size() == 1);
  CHECK(table.info.devices[0].name == "NVIDIA H200");
  CHECK(table.info.devices[0].max_threads_per_multiprocessor == 2048);
}

}  // namespace
}  // namespace foretrace::trace::collector
#endif
