#include "trace/table/silences.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "sim/core/text.h"

namespace foretrace::trace {
namespace {

// Loading of a module takes about 1 ms and more, compilation seconds; what is shorter does not
// change an answer.
constexpr std::int64_t shortest_ns = 20'000'000;
// Of the span.
constexpr double smallest_share = 0.02;
// A silence that has so many others of at least half its length comes again and again.
constexpr std::size_t others_of_its_kind = 2;
// The event that names a silence lasts for this share of it.
constexpr double named_share = 0.8;

using Stretch = std::pair<std::int64_t, std::int64_t>;

std::int64_t length(const Stretch& stretch) { return stretch.second - stretch.first; }

/// What creates the context of a process and its first memory is over before anything is launched.
/// A call that waits, or copies, may do so for work of before.
bool may_be_creation(const EventTable& events, std::size_t i) {
  return events.kind[i] == EventKind::runtime && events.duration_ns[i] >= shortest_ns &&
         !contains_any(events.name_of(make_id<EventId>(i)),
                       {"Synchronize", "Wait", "Query", "Memcpy", "Launch"});
}

/// The longest call of that kind before a time; empty if there is none.
Stretch creation_before(const EventTable& events, std::int64_t time_ns) {
  Stretch longest{time_ns, time_ns};
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::int64_t end = std::min(time_ns, events.end_ns(make_id<EventId>(i)));
    if (may_be_creation(events, i) && end - events.start_ns[i] > length(longest)) {
      longest = {events.start_ns[i], end};
    }
  }
  return longest;
}

/// Stretches between launches and device work, by begin, and when the first of these begins.
struct Quiet {
  std::vector<Stretch> stretches;
  std::optional<std::int64_t> first_work_ns;
};
Quiet quiet_stretches(const EventTable& events) {
  std::vector<Stretch> busy;
  std::vector<std::uint32_t> launched;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto id = make_id<EventId>(i);
    if (events.is_device_event(id)) {
      busy.emplace_back(events.start_ns[i], events.end_ns(id));
      launched.push_back(events.correlation[i]);
    }
  }
  std::sort(launched.begin(), launched.end());
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.kind[i] == EventKind::runtime && events.correlation[i] != 0 &&
        std::binary_search(launched.begin(), launched.end(), events.correlation[i])) {
      busy.emplace_back(events.start_ns[i], events.start_ns[i]);
    }
  }
  std::sort(busy.begin(), busy.end());
  Quiet quiet;
  std::int64_t reached = busy.empty() ? 0 : busy.front().first;
  if (!busy.empty()) {
    quiet.first_work_ns = reached;
  }
  for (const auto& [from, to] : busy) {
    if (from - reached >= shortest_ns) {
      quiet.stretches.emplace_back(reached, from);
    }
    reached = std::max(reached, to);
  }
  return quiet;
}

bool comes_again(const std::vector<Stretch>& quiet, const Stretch& stretch) {
  const auto alike = std::count_if(quiet.begin(), quiet.end(), [&](const Stretch& other) {
    return 2 * length(other) >= length(stretch);
  });
  return static_cast<std::size_t>(alike) > others_of_its_kind;
}

std::string name_of(const EventTable& events, const Stretch& stretch) {
  std::int64_t shortest = -1;
  std::string name;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto id = make_id<EventId>(i);
    const std::int64_t common =
        std::min(events.end_ns(id), stretch.second) - std::max(events.start_ns[i], stretch.first);
    const bool is_around =
        static_cast<double>(common) >= named_share * static_cast<double>(length(stretch));
    if (is_around && !events.is_device_event(id) && events.kind[i] != EventKind::gpu_annotation &&
        (shortest < 0 || events.duration_ns[i] < shortest)) {
      shortest = events.duration_ns[i];
      name = events.name_of(id);
    }
  }
  return name;
}

/// Where a time lies once the silences are gone.
std::int64_t moved(std::span<const Silence> silences, std::int64_t time) {
  std::int64_t gone = 0;
  for (const Silence& silence : silences) {
    gone += std::clamp<std::int64_t>(time - silence.begin_ns, 0, silence.end_ns - silence.begin_ns);
  }
  return time - gone;
}

}  // namespace

std::vector<Silence> one_off_silences(const EventTable& events) {
  std::int64_t first = 0;
  std::int64_t last = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto id = make_id<EventId>(i);
    first = i == 0 ? events.start_ns[i] : std::min(first, events.start_ns[i]);
    last = i == 0 ? events.end_ns(id) : std::max(last, events.end_ns(id));
  }
  const auto is_long = [&](const Stretch& stretch) {
    return static_cast<double>(length(stretch)) >=
           smallest_share * static_cast<double>(last - first);
  };
  const Quiet quiet = quiet_stretches(events);
  std::vector<Silence> silences;
  if (quiet.first_work_ns) {
    const Stretch creation = creation_before(events, *quiet.first_work_ns);
    if (length(creation) >= shortest_ns && is_long(creation)) {
      silences.push_back({creation.first, creation.second, name_of(events, creation)});
    }
  }
  for (const Stretch& stretch : quiet.stretches) {
    if (is_long(stretch) && !comes_again(quiet.stretches, stretch)) {
      silences.push_back({stretch.first, stretch.second, name_of(events, stretch)});
    }
  }
  return silences;
}

void cut_out(std::span<const Silence> silences, EventTable& events) {
  if (silences.empty()) return;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::int64_t end = moved(silences, events.start_ns[i] + events.duration_ns[i]);
    events.start_ns[i] = moved(silences, events.start_ns[i]);
    events.duration_ns[i] = end - events.start_ns[i];
  }
  for (MemoryEvent& event : events.memory) {
    event.time_ns = moved(silences, event.time_ns);
  }
  for (Flow& flow : events.flows) {
    flow.time_ns = moved(silences, flow.time_ns);
  }
  for (SyncRecord& record : events.syncs) {
    const std::int64_t end = moved(silences, record.start_ns + record.duration_ns);
    record.start_ns = moved(silences, record.start_ns);
    record.duration_ns = end - record.start_ns;
  }
}

}  // namespace foretrace::trace
