// A device whose clock is behind the host's: its work would begin before it is launched. Each
// device has a clock of its own, and it moves only where launches agree on what it lacks: a single
// one before its call has the number of another.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/core/statistics.h"
#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::device_clock_parts {
namespace {

/// From the begin of each call to that of its work, by device.
std::map<std::int32_t, std::vector<std::int64_t>> latencies_of(const Assembly& assembly) {
  std::map<std::int32_t, std::vector<std::int64_t>> latencies;
  for (const DeviceOp& op : assembly.ops) {
    if (op.call != nothing) {
      latencies[assembly.streams[op.stream].device].push_back(op.start_ns -
                                                              assembly.calls[op.call].start_ns);
    }
  }
  return latencies;
}

/// The lowest latency that others share: launches that found the device idle. Queues spread the
/// others, so what counts as the same grows with the middle half of all. `sorted` is not empty.
std::optional<std::int64_t> shared_floor(const std::vector<std::int64_t>& sorted) {
  const std::size_t least =
      std::max(fewest_early_launches,
               static_cast<std::size_t>(early_launch_share * static_cast<double>(sorted.size())));
  const std::int64_t middle_half = percentile(sorted, 75) - percentile(sorted, 25);
  const std::int64_t spread = std::max(launch_spread_ns, middle_half / 10);
  for (std::size_t i = 0; i + least <= sorted.size(); ++i) {
    if (sorted[i + least - 1] - sorted[i] <= spread) {
      return sorted[i];
    }
  }
  return std::nullopt;
}

/// What the clock of one device lacks; 0 if its launches do not say so.
std::int64_t lack_of(std::vector<std::int64_t>& latencies, std::int64_t slack_ns) {
  if (latencies.size() < fewest_clock_launches) {
    return 0;
  }
  std::sort(latencies.begin(), latencies.end());
  const std::optional<std::int64_t> floor = shared_floor(latencies);
  const bool is_behind = floor && *floor < -slack_ns && *floor >= -largest_clock_lack_ns;
  return is_behind ? shortest_launch_ns - *floor : 0;
}

void move_devices(Assembly& assembly) {
  std::map<std::int32_t, std::vector<std::int64_t>> all = latencies_of(assembly);
  std::map<std::int32_t, std::int64_t> lacks;
  for (auto& [device, latencies] : all) {
    const std::int64_t lack = lack_of(latencies, assembly.slack_ns);
    if (lack == 0) {
      continue;
    }
    lacks[device] = lack;
    const auto early = std::lower_bound(latencies.begin(), latencies.end(), -assembly.slack_ns) -
                       latencies.begin();
    assembly.honesty.flags.push_back(fmt::format(
        "{} clock behind the host's: {} of {} operations began before their launch, moved by {} us",
        all.size() == 1 ? "device" : fmt::format("device {}'s", device), early, latencies.size(),
        lack / 1000));
  }
  for (DeviceOp& op : assembly.ops) {
    const auto lack = lacks.find(assembly.streams[op.stream].device);
    if (lack != lacks.end()) {
      op.start_ns += lack->second;
      op.end_ns += lack->second;
    }
  }
}

constexpr Rule info = {.name = "device_clock",
                       .doc =
                           "device times that lie before their launches move by what is "
                           "missing: the clocks differ",
                       .stage = Stage::collect,
                       .apply = move_devices};

}  // namespace
}  // namespace foretrace::trace::rules::device_clock_parts

namespace foretrace::trace::rules {
extern const Rule device_clock;
constinit const Rule device_clock = device_clock_parts::info;
}  // namespace foretrace::trace::rules
