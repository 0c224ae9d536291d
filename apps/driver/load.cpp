// From a trace file to a task graph.
#include "apps/driver/load.h"

#include <algorithm>
#include <utility>

#include "trace/memory_graph.h"
#include "trace/reader.h"

namespace foretrace::driver {
namespace {

/// The device that the work of the graph runs on; the first one if there are several.
const DeviceInfo* device_of(const TaskGraph& graph) {
  const auto& lanes = graph.context().lanes;
  const auto lane = std::find_if(lanes.begin(), lanes.end(), [](const Lane& candidate) {
    return candidate.kind == LaneKind::stream && candidate.device >= 0;
  });
  if (lane == lanes.end()) {
    return nullptr;
  }
  const auto& devices = graph.context().devices;
  const auto device = std::find_if(devices.begin(), devices.end(), [&](const DeviceInfo& info) {
    return info.rank == lane->rank && info.device == lane->device;
  });
  return device == devices.end() ? nullptr : &*device;
}

}  // namespace

Result<Recording> load(const std::string& path, const LoadOptions& options) {
  Result<trace::LoadedTrace> read = trace::read_trace(path, {options.strict, options.progress});
  if (!read.ok()) {
    return read.error();
  }
  Result<trace::BuiltGraph> built = options.memory_graph && read->memory
                                        ? trace::build_memory_graph(*read->memory)
                                        : trace::build_graph(*read, options.build);
  if (!built.ok()) {
    return built.error();
  }
  Recording recording{path, std::move(read->events), std::move(read->report), *std::move(built),
                      std::nullopt};
  if (const DeviceInfo* const device = device_of(recording.graph())) {
    recording.accelerator = accelerator_of_device(device->name, device->memory_bytes);
  }
  return recording;
}

}  // namespace foretrace::driver
