// Unrecorded event synchronization: older profilers drop cudaEventSynchronize. A long silence right
// before cudaEventElapsedTime is such a call; it waits for the event, not for the host.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "trace/rules/assembly/activity.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::hidden_sync_parts {
namespace {

bool reads_event_time(std::string_view name) {
  return name == "cudaEventElapsedTime" || name == "hipEventElapsedTime";
}

/// A call that reads an event's time, and its thread.
struct Reader {
  std::size_t event = 0;
  std::uint32_t thread = 0;
};

void find_hidden_syncs(Assembly& assembly) {
  const EventTable& events = assembly.events;
  const std::vector<std::uint32_t> thread_of_track = assembly.thread_of_track();
  std::vector<Reader> readers;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::uint32_t thread = thread_of_track[index(events.track[i])];
    if (thread != nothing && events.kind[i] == EventKind::runtime &&
        reads_event_time(events.names[events.name[i]])) {
      readers.push_back({i, thread});
    }
  }
  if (readers.empty()) return;
  std::stable_sort(readers.begin(), readers.end(),
                   [](const Reader& a, const Reader& b) { return a.thread < b.thread; });
  const std::vector<Activity> activity = activity_of(assembly, StepEnds::count);
  for (const Reader& reader : readers) {
    const auto& list = activity[reader.thread].boundaries;
    const std::int64_t start = events.start_ns[reader.event];
    const auto at = std::lower_bound(list.begin(), list.end(), start);
    if (at == list.begin() || start - *(at - 1) <= hidden_sync_gap_ns) continue;
    HostCall call;
    call.event = make_id<EventId>(reader.event);
    call.api = events.name[reader.event];
    call.kind = CallKind::event_sync;
    call.hidden = true;
    call.thread = reader.thread;
    call.start_ns = *(at - 1);
    call.end_ns = start;
    assembly.threads[reader.thread].calls.push_back(
        static_cast<std::uint32_t>(assembly.calls.size()));
    assembly.calls.push_back(call);
  }
}

}  // namespace

extern constexpr Rule info = {
    .name = "hidden_sync",
    .doc =
        "event synchronizations that were not recorded: a long pause right before an event is read",
    .apply = find_hidden_syncs};

}  // namespace foretrace::trace::rules::hidden_sync_parts
