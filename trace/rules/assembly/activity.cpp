#include "trace/rules/assembly/activity.h"

#include <algorithm>

namespace foretrace::trace::rules {

bool Activity::inside_call(std::int64_t from, std::int64_t to) const {
  const auto after = std::partition_point(calls.begin(), calls.end(),
                                          [&](const auto& call) { return call.first <= from; });
  return after != calls.begin() && (after - 1)->second >= to;
}

std::vector<Activity> activity_of(const Assembly& assembly, StepEnds steps) {
  const EventTable& events = assembly.events;
  const std::vector<std::uint32_t> thread_of_track = assembly.thread_of_track();
  std::vector<Activity> list(assembly.threads.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i].rank = events.tracks[index(assembly.threads[i].track)].rank;
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    const EventKind kind = events.kind[i];
    const std::uint32_t thread = thread_of_track[index(events.track[i])];
    const bool counts = kind == EventKind::cpu_op || kind == EventKind::runtime ||
                        kind == EventKind::user_annotation;
    const auto event = make_id<EventId>(i);
    if (thread == nothing || !counts ||
        (steps == StepEnds::ignore && events.name_of(event).starts_with("ProfilerStep"))) {
      continue;
    }
    list[thread].boundaries.push_back(events.start_ns[i]);
    list[thread].boundaries.push_back(events.end_ns(event));
    if (kind == EventKind::runtime) {
      list[thread].calls.emplace_back(events.start_ns[i], events.end_ns(event));
    }
  }
  for (Activity& activity : list) {
    std::sort(activity.boundaries.begin(), activity.boundaries.end());
    std::sort(activity.calls.begin(), activity.calls.end());
  }
  return list;
}

}  // namespace foretrace::trace::rules
