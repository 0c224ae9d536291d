#include "trace/formats/chrome/trace_info.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include <fmt/format.h>
#include <simdjson.h>

#include "trace/formats/json/number.h"

namespace foretrace::trace::formats {
namespace {

using simdjson::dom::element;

std::int64_t integer_at(element object, std::string_view key, std::int64_t otherwise) {
  std::int64_t value = 0;
  return object[key].get(value) == simdjson::SUCCESS ? value : otherwise;
}

std::int32_t small_at(element object, std::string_view key, std::int32_t otherwise) {
  const std::int64_t value = integer_at(object, key, otherwise);
  return value >= -1 && value <= std::numeric_limits<std::int32_t>::max()
             ? static_cast<std::int32_t>(value)
             : otherwise;
}

DeviceProperties device_from(element object, std::int32_t rank) {
  DeviceProperties device;
  device.rank = std::max(rank, 0);
  device.id = small_at(object, "id", 0);
  std::string_view name;
  if (object["name"].get(name) == simdjson::SUCCESS) {
    device.name = std::string(name);
  }
  device.total_memory_bytes = integer_at(object, "totalGlobalMem", 0);
  device.multiprocessors = small_at(object, "numSms", 0);
  device.compute_major = small_at(object, "computeMajor", 0);
  device.compute_minor = small_at(object, "computeMinor", 0);
  // Two spellings: "Multiprocessor" and "MultiProcessor".
  device.max_threads_per_multiprocessor = small_at(
      object, "maxThreadsPerMultiprocessor", small_at(object, "maxThreadsPerMultiProcessor", 0));
  device.registers_per_multiprocessor =
      small_at(object, "regsPerMultiprocessor", small_at(object, "regsPerMultiProcessor", 0));
  device.shared_memory_per_multiprocessor = integer_at(
      object, "sharedMemPerMultiprocessor", integer_at(object, "sharedMemPerMultiProcessor", 0));
  device.warp_size = small_at(object, "warpSize", 0);
  return device;
}

// The value parsed, or a warning that it is not what it should be.
bool parse(const TopLevelValues& values, std::string_view key, simdjson::dom::parser& parser,
           element& out, ImportReport& report) {
  const auto found = values.find(key);
  if (found == values.end()) return false;
  if (parser.parse(found->second).get(out) == simdjson::SUCCESS) return true;
  report.warnings.push_back(fmt::format("\"{}\" is no valid JSON and was left out", key));
  return false;
}

bool is_like(const DeviceProperties& a, const DeviceProperties& b) {
  return a.name == b.name && a.multiprocessors == b.multiprocessors &&
         a.total_memory_bytes == b.total_memory_bytes;
}

}  // namespace

void fill_trace_info(const TopLevelValues& values, TraceInfo& info, ImportReport& report) {
  simdjson::dom::parser parser;
  element value;
  if (parse(values, "distributedInfo", parser, value, report)) {
    info.rank = small_at(value, "rank", -1);
    info.world_size = small_at(value, "world_size", -1);
  }
  simdjson::dom::array devices;
  if (parse(values, "deviceProperties", parser, value, report) &&
      value.get(devices) == simdjson::SUCCESS) {
    for (const element device : devices) {
      if (device.is_object()) {
        info.devices.push_back(device_from(device, info.rank));
      }
    }
  }
  if (const auto base = values.find("baseTimeNanoseconds"); base != values.end()) {
    info.base_time_ns = integer_from(base->second).value_or(0);
  }
  info.is_hip = info.is_hip || values.contains("hip_runtime_version") ||
                values.contains("hip_driver_version") || values.contains("roctracer_version");
}

void list_renumbered_devices(EventTable& table) {
  std::vector<DeviceProperties>& devices = table.info.devices;
  if (!table.info.is_hip || devices.empty()) return;
  const DeviceProperties model = devices.front();
  for (const DeviceProperties& device : devices) {
    if (!is_like(device, model)) return;
  }
  std::unordered_set<std::int32_t> listed;
  for (const DeviceProperties& device : devices) {
    listed.insert(device.id);
  }
  for (const Track& track : table.tracks) {
    if (track.kind == Track::Kind::stream && track.device >= 0 &&
        listed.insert(track.device).second) {
      devices.push_back(model);
      devices.back().id = track.device;
    }
  }
}

}  // namespace foretrace::trace::formats
