// A device whose clock is behind the host's: its work would begin before it is launched. Each
// device has a clock of its own, and it moves only where launches agree on what it lacks: a single
// one before its call has the number of another.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

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

/// How far apart neighbours among the shortest launches may be: launches of an idle device differ
/// by little, and where queues hide all but a few of those, as far as the next ones are. `sorted`
/// has fewest_clock_launches at least.
std::int64_t usual_distance(const std::vector<std::int64_t>& sorted) {
  const std::size_t from = sorted.size() / 20;
  const std::size_t to = sorted.size() / 10;
  const std::int64_t each = (sorted[to] - sorted[from]) / static_cast<std::int64_t>(to - from);
  return std::max(launch_spread_ns, 3 * each);
}

/// The shortest launch that enough others follow closely, all before their calls.
std::optional<std::int64_t> shortest_early(const std::vector<std::int64_t>& sorted,
                                           std::int64_t slack_ns) {
  const std::size_t least =
      std::max(fewest_early_launches,
               static_cast<std::size_t>(early_launch_share * static_cast<double>(sorted.size())));
  const std::int64_t distance = usual_distance(sorted);
  std::size_t first = 0;
  for (std::size_t i = 0; i < sorted.size() && sorted[i] < -slack_ns; ++i) {
    first = i > 0 && sorted[i] - sorted[i - 1] > distance ? i : first;
    if (i + 1 - first == least) return sorted[first];
  }
  return std::nullopt;
}

/// What the clock of one device lacks; 0 if its launches do not say so.
std::int64_t lack_of(std::vector<std::int64_t>& latencies, std::int64_t slack_ns) {
  if (latencies.size() < fewest_clock_launches) return 0;
  std::sort(latencies.begin(), latencies.end());
  const std::optional<std::int64_t> shortest = shortest_early(latencies, slack_ns);
  const bool is_behind = shortest && *shortest >= -largest_clock_lack_ns;
  return is_behind ? shortest_launch_ns - *shortest : 0;
}

void move_devices(Assembly& assembly) {
  std::map<std::int32_t, std::vector<std::int64_t>> all = latencies_of(assembly);
  std::map<std::int32_t, std::int64_t> lacks;
  for (auto& [device, latencies] : all) {
    const std::int64_t lack = lack_of(latencies, assembly.slack_ns);
    if (lack == 0) continue;
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

}  // namespace

extern constexpr Rule info = {
    .name = "device_clock",
    .doc = "device times before their launches move behind them: the clocks differ",
    .stage = Stage::collect,
    .apply = move_devices};

}  // namespace foretrace::trace::rules::device_clock_parts
