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

/// The operations of one correlation, looked at once however many calls carry it.
struct LaunchedTogether {
  std::uint32_t correlation = 0;
  std::uint32_t work = 0;
  std::size_t operations = 0;
  std::int64_t device_ns = 0;
  bool has_host_copy = false;
};

std::vector<LaunchedTogether> groups_of(const EventTable& events) {
  const std::vector<Operation> operations = operations_of(events);
  std::map<std::vector<NameId>, std::uint32_t> works;
  std::vector<LaunchedTogether> groups;
  for (std::size_t i = 0; i < operations.size();) {
    LaunchedTogether group{.correlation = operations[i].correlation};
    std::vector<NameId> names;
    for (; i < operations.size() && operations[i].correlation == group.correlation; ++i) {
      const std::uint32_t event = operations[i].event;
      names.push_back(events.name[event]);
      group.device_ns += events.duration_ns[event];
      group.has_host_copy = group.has_host_copy || is_host_copy(events, event);
    }
    group.operations = names.size();
    // Numbers in the order of correlations: only whether two are equal counts.
    group.work =
        works.emplace(std::move(names), static_cast<std::uint32_t>(works.size())).first->second;
    groups.push_back(group);
  }
  return groups;
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
  const std::vector<LaunchedTogether> groups = groups_of(events);
  LaunchSequence sequence;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.kind[i] != EventKind::runtime) continue;
    const auto id = make_id<EventId>(i);
    const auto at = std::lower_bound(
        groups.begin(), groups.end(), events.correlation[i],
        [](const LaunchedTogether& group, std::uint32_t key) { return group.correlation < key; });
    const bool launches = at != groups.end() && at->correlation == events.correlation[i];
    if (contains(events.name_of(id), "Synchronize") || (launches && at->has_host_copy)) {
      sequence.meetings_ns.push_back(events.start_ns[i]);
    }
    if (launches) {
      sequence.launches.push_back({id, events.track[i], events.start_ns[i], events.end_ns(id),
                                   at->work, at->operations, at->device_ns});
    }
  }
  std::stable_sort(
      sequence.launches.begin(), sequence.launches.end(),
      [](const LaunchedWork& a, const LaunchedWork& b) { return a.start_ns < b.start_ns; });
  std::sort(sequence.meetings_ns.begin(), sequence.meetings_ns.end());
  sequence.updates_ns = updates(events);
  return sequence;
}

}  // namespace foretrace::trace
