// "Command Buffer Full": the profiler saw a launch wait for room in the queue. Direct evidence of
// back-pressure; that time is not the call's own work.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/long_launch.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::overhead_events_parts {
namespace {

using Intervals = std::vector<std::pair<std::int64_t, std::int64_t>>;  // start, end

Intervals full_queues(const EventTable& events) {
  Intervals full;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto event = make_id<EventId>(i);
    if (events.kind[i] == EventKind::overhead && events.name_of(event) == "Command Buffer Full") {
      full.emplace_back(events.start_ns[i], events.end_ns(event));
    }
  }
  std::sort(full.begin(), full.end());
  return full;
}

std::int64_t overlap(const Intervals& list, std::int64_t from, std::int64_t to) {
  auto at = std::partition_point(list.begin(), list.end(),
                                 [&](const auto& row) { return row.second <= from; });
  std::int64_t sum = 0;
  for (; at != list.end() && at->first < to; ++at) {
    sum += std::max<std::int64_t>(0, std::min(at->second, to) - std::max(at->first, from));
  }
  return sum;
}

void take_out_full_queues(Assembly& assembly) {
  const Intervals full = full_queues(assembly.events);
  if (full.empty() || assembly.events.info.is_hip) return;
  for (HostCall& call : assembly.calls) {
    if (!is_long_launch(assembly, call)) continue;
    const std::int64_t recorded = call.end_ns - call.start_ns;
    const std::int64_t waited = overlap(full, call.start_ns, call.end_ns);
    if (waited > 0) {
      call.own_ns = std::max(recorded - waited, std::min(usual_duration(assembly, call), recorded));
    }
  }
}

}  // namespace

extern constexpr Rule info = {.name = "overhead_events",
                              .doc =
                                  "launches that waited for a full queue, by the profiler's "
                                  "records, keep the rest of their time",
                              .apply = take_out_full_queues};

}  // namespace foretrace::trace::rules::overhead_events_parts
