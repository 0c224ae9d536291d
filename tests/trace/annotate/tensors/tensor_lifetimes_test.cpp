#include "trace/annotate/tensors/tensor_lifetimes.h"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tests/trace/annotate/trace_sketch.h"

namespace foretrace::trace {
namespace {

TEST_CASE("lifetimes: addresses pair what sizes would confuse") {
  TraceSketch sketch;
  const TrackId thread = sketch.thread(1);
  sketch.memory(thread, 10, 512, 0xA, 1512);  // base: 1512 - 512 = 1000
  sketch.memory(thread, 20, 512, 0xB, 2024);
  sketch.memory(thread, 30, -512, 0xA, 1512);  // the older of two equal sizes
  sketch.memory(thread, 40, -300, 0xC, 1212);  // came before the window
  const TensorLifetimes found = find_lifetimes(sketch.table().memory);
  REQUIRE(found.devices.size() == 1);
  const DeviceMemory& device = found.devices[0];
  CHECK(device.base_bytes == 1000);
  CHECK(device.persistent_bytes == 700);
  CHECK(device.recorded_peak_bytes == 2024);
  CHECK(device.tensors == 2);
  CHECK(device.freed_older == 1);
  CHECK(device.left_over == 1);
  CHECK(device.has_addresses);
  REQUIRE(found.tensors.size() == 3);
  CHECK(found.tensors[0].bytes == 300);
  CHECK(found.tensors[0].allocation == no_memory_event);
  CHECK(found.tensors[0].release == 3);
  CHECK(found.tensors[1].release == 2);
  CHECK(found.tensors[2].release == no_memory_event);
}

TEST_CASE("lifetimes: without addresses equal sizes are paired last in, first out") {
  TraceSketch sketch;
  const TrackId thread = sketch.thread(1);
  sketch.memory(thread, 10, 512);
  sketch.memory(thread, 20, 512);
  sketch.memory(thread, 30, -512);
  const TensorLifetimes found = find_lifetimes(sketch.table().memory);
  REQUIRE(found.tensors.size() == 2);
  CHECK(found.tensors[0].release == no_memory_event);
  CHECK(found.tensors[1].release == 2);
  CHECK(found.devices[0].base_bytes == -1);
  CHECK(found.devices[0].persistent_bytes == -1);
}

TEST_CASE("lifetimes: threads merge by time; at equal times the totals decide") {
  TraceSketch sketch;
  const TrackId first = sketch.thread(1);
  const TrackId second = sketch.thread(2);
  sketch.memory(first, 10, 100, 0xA, 100);
  sketch.memory(first, 20, 10, 0xB, 115);  // 115 - 10 = 105: the other thread's 5 came before
  sketch.memory(second, 20, 5, 0xC, 105);
  const TensorLifetimes found = find_lifetimes(sketch.table().memory);
  CHECK(found.devices[0].order == std::vector<std::uint32_t>{0, 2, 1});
  CHECK(found.devices[0].chain_breaks == 0);
}

TEST_CASE("lifetimes: lost events are counted, and nothing is made up for them") {
  TraceSketch sketch;
  const TrackId thread = sketch.thread(1);
  sketch.memory(thread, 10, 100, 0xA, 100);
  sketch.memory(thread, 20, 100, 0xA, 150);  // its free is missing, and 50 bytes are unaccounted
  sketch.memory(thread, 30, 8, 0xD, 158);
  const TensorLifetimes found = find_lifetimes(sketch.table().memory);
  CHECK(found.devices[0].chain_breaks == 1);
  CHECK(found.devices[0].lost_frees == 1);
  CHECK(found.tensors[0].release == 1);
}

TEST_CASE("lifetimes: memory of the host and absurd sizes are left out") {
  TraceSketch sketch;
  const TrackId thread = sketch.thread(1);
  sketch.memory(thread, 10, INT64_MIN);
  sketch.memory(thread, 20, INT64_MAX);
  CHECK(find_lifetimes(sketch.table().memory).devices.empty());
  EventTable table = sketch.table();
  table.memory[0].bytes = 8;
  table.memory[0].device_type = 0;
  CHECK(find_lifetimes(table.memory).devices.empty());
}

}  // namespace
}  // namespace foretrace::trace
