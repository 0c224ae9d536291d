// The device of a trace in the words of the graph.
#pragma once

#include "sim/graph/task_graph.h"
#include "trace/table/events.h"

namespace foretrace::trace::rules {

[[nodiscard]] inline DeviceInfo device_info(const DeviceProperties& device, std::int32_t rank = 0) {
  return {.rank = rank,
          .device = device.id,
          .name = device.name,
          .multiprocessors = device.multiprocessors,
          .memory_bytes = device.total_memory_bytes,
          .max_threads_per_multiprocessor = device.max_threads_per_multiprocessor,
          .registers_per_multiprocessor = device.registers_per_multiprocessor,
          .shared_memory_per_multiprocessor = device.shared_memory_per_multiprocessor,
          .compute_major = device.compute_major,
          .compute_minor = device.compute_minor};
}

}  // namespace foretrace::trace::rules
