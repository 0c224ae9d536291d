// Unrecorded event synchronization: older profilers drop cudaEventSynchronize. A long silence right
// before cudaEventElapsedTime is such a call; it waits for the event, not for the host.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "trace/rules/assembly.h"
#include "trace/rules/constants.h"

namespace foretrace::trace::rules {
namespace {

bool reads_event_time(std::string_view name) {
  return name == "cudaEventElapsedTime" || name == "hipEventElapsedTime";
}

/// Starts and ends of the thread's own events, sorted.
std::vector<std::int64_t> boundaries_of(const EventTable& events, TrackId track) {
  std::vector<std::int64_t> list;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const EventKind kind = events.kind[i];
    if (events.track[i] == track && (kind == EventKind::cpu_op || kind == EventKind::runtime ||
                                     kind == EventKind::user_annotation)) {
      list.push_back(events.start_ns[i]);
      list.push_back(events.end_ns(make_id<EventId>(i)));
    }
  }
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace

void hidden_sync(Assembly& assembly) {
  const EventTable& events = assembly.events;
  if (!assembly.options.rules.synchronization) {
    return;
  }
  for (std::size_t thread = 0; thread < assembly.threads.size(); ++thread) {
    const TrackId track = assembly.threads[thread].track;
    std::vector<std::int64_t> boundaries;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events.track[i] != track || events.kind[i] != EventKind::runtime ||
          !reads_event_time(events.names[events.name[i]])) {
        continue;
      }
      if (boundaries.empty()) {
        boundaries = boundaries_of(events, track);
      }
      const auto at = std::lower_bound(boundaries.begin(), boundaries.end(), events.start_ns[i]);
      if (at == boundaries.begin() || events.start_ns[i] - *(at - 1) <= hidden_sync_gap_ns) {
        continue;
      }
      HostCall call;
      call.event = make_id<EventId>(i);
      call.api = events.name[i];
      call.kind = CallKind::event_sync;
      call.hidden = true;
      call.thread = static_cast<std::uint32_t>(thread);
      call.start_ns = *(at - 1);
      call.end_ns = events.start_ns[i];
      assembly.threads[thread].calls.push_back(static_cast<std::uint32_t>(assembly.calls.size()));
      assembly.calls.push_back(call);
    }
  }
}

}  // namespace foretrace::trace::rules
