#include "trace/annotate/launch_sequence.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "sim/core/text.h"
#include "trace/annotate/names.h"

namespace foretrace::trace {
namespace {

/// An operation by the call that launched it.
struct Operation {
  std::uint32_t correlation = 0;
  std::int64_t start_ns = 0;
  std::uint32_t event = 0;
};

std::vector<Operation> operations_of(const EventTable& events) {
  std::vector<Operation> operations;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.correlation[i] != 0 && events.is_device_event(make_id<EventId>(i))) {
      operations.push_back(
          {events.correlation[i], events.start_ns[i], static_cast<std::uint32_t>(i)});
    }
  }
  std::sort(operations.begin(), operations.end(), [](const Operation& a, const Operation& b) {
    return std::tuple(a.correlation, a.start_ns, a.event) <
           std::tuple(b.correlation, b.start_ns, b.event);
  });
  return operations;
}

bool is_host_copy(const EventTable& events, std::size_t event) {
  const std::string_view name = events.name_of(make_id<EventId>(event));
  return events.kind[event] == EventKind::copy &&
         (contains_ignore_case(name, "htod") || contains_ignore_case(name, "dtoh") ||
          contains_ignore_case(name, "host"));
}

std::vector<std::int64_t> updates(const EventTable& events) {
  NameMeanings meanings(events);
  std::vector<std::int64_t> times;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.kind[i] == EventKind::user_annotation &&
        meanings(make_id<EventId>(i)).phase == Phase::update) {
      times.push_back(events.start_ns[i]);
    }
  }
  std::sort(times.begin(), times.end());
  return times;
}

}  // namespace

LaunchSequence launch_sequence(const EventTable& events) {
  const std::vector<Operation> operations = operations_of(events);
  LaunchSequence sequence;
  std::map<std::vector<NameId>, std::uint32_t> works;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.kind[i] != EventKind::runtime) {
      continue;
    }
    const auto id = make_id<EventId>(i);
    bool meets = contains(events.name_of(id), "Synchronize");
    LaunchedWork launch{id, events.track[i], events.start_ns[i], events.end_ns(id)};
    std::vector<NameId> names;
    auto at = std::lower_bound(
        operations.begin(), operations.end(), events.correlation[i],
        [](const Operation& operation, std::uint32_t key) { return operation.correlation < key; });
    for (; at != operations.end() && at->correlation == events.correlation[i]; ++at) {
      names.push_back(events.name[at->event]);
      launch.device_ns += events.duration_ns[at->event];
      meets = meets || is_host_copy(events, at->event);
    }
    if (meets) {
      sequence.meetings_ns.push_back(events.start_ns[i]);
    }
    if (names.empty()) {
      continue;
    }
    launch.operations = names.size();
    launch.work =
        works.emplace(std::move(names), static_cast<std::uint32_t>(works.size())).first->second;
    sequence.launches.push_back(launch);
  }
  std::stable_sort(
      sequence.launches.begin(), sequence.launches.end(),
      [](const LaunchedWork& a, const LaunchedWork& b) { return a.start_ns < b.start_ns; });
  std::sort(sequence.meetings_ns.begin(), sequence.meetings_ns.end());
  sequence.updates_ns = updates(events);
  return sequence;
}

}  // namespace foretrace::trace
