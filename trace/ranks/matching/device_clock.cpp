#include "trace/ranks/matching/device_clock.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/core/statistics.h"
#include "trace/ranks/matching/constants.h"

namespace foretrace::trace {

std::int64_t align_device_clock(EventTable& events) {
  std::vector<std::pair<std::uint32_t, std::int64_t>> calls;  // correlation, start
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.kind[i] == EventKind::runtime && events.correlation[i] != 0) {
      calls.emplace_back(events.correlation[i], events.start_ns[i]);
    }
  }
  std::sort(calls.begin(), calls.end());
  std::vector<std::int64_t> latencies;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!events.is_device_event(make_id<EventId>(i)) || events.correlation[i] == 0) continue;
    const auto at = std::lower_bound(
        calls.begin(), calls.end(), events.correlation[i],
        [](const auto& call, std::uint32_t correlation) { return call.first < correlation; });
    const bool found = at != calls.end() && at->first == events.correlation[i];
    const bool once = found && (at + 1 == calls.end() || (at + 1)->first != at->first);
    if (once) {
      latencies.push_back(events.start_ns[i] - at->second);
    }
  }
  if (latencies.size() < ranks::fewest_launches) return 0;
  const std::int64_t low = percentile(std::move(latencies), 1);
  if (low >= ranks::smallest_latency_ns) return 0;
  const std::int64_t shift = ranks::usual_latency_ns - low;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.is_device_event(make_id<EventId>(i)) ||
        events.kind[i] == EventKind::gpu_annotation) {
      events.start_ns[i] += shift;
    }
  }
  return shift;
}

}  // namespace foretrace::trace
