#include "trace/annotate/nesting.h"

#include <algorithm>
#include <cstdint>

namespace foretrace::trace {
namespace {

/// Of two events with equal times the one that encloses the other comes first.
int depth_rank(EventKind kind) {
  switch (kind) {
    case EventKind::user_annotation: return 0;
    case EventKind::python_function: return 1;
    case EventKind::cpu_op: return 2;
    case EventKind::other: return 3;
    case EventKind::overhead: return 4;
    case EventKind::runtime: return 5;
    case EventKind::kernel:
    case EventKind::copy:
    case EventKind::set:
    case EventKind::gpu_annotation: return 6;
  }
  return 6;
}

struct Entry {
  std::int64_t start_ns;
  std::int64_t end_ns;
  int rank;
  EventId event;
};

bool encloses_first(const Entry& a, const Entry& b) {
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  if (a.end_ns != b.end_ns) return a.end_ns > b.end_ns;
  if (a.rank != b.rank) return a.rank < b.rank;
  return a.event < b.event;
}

/// True if `inner` starts while `outer` runs. Traces round to the microsecond, so an event that
/// reaches beyond `outer` and overlaps it by no more than that follows it.
bool encloses(const Entry& outer, const Entry& inner, std::int64_t rounding_ns) {
  if (outer.end_ns == inner.start_ns) {
    return outer.start_ns == inner.end_ns && outer.rank < inner.rank;  // both of zero length
  }
  if (outer.end_ns < inner.start_ns) return false;
  return inner.end_ns <= outer.end_ns || outer.end_ns - inner.start_ns > rounding_ns;
}

void nest_track(std::vector<Entry>& entries, std::int64_t rounding_ns, Nesting& nesting) {
  if (!std::is_sorted(entries.begin(), entries.end(), encloses_first)) {
    std::sort(entries.begin(), entries.end(), encloses_first);
  }
  std::vector<const Entry*> open;
  for (const Entry& entry : entries) {
    while (!open.empty() && !encloses(*open.back(), entry, rounding_ns)) open.pop_back();
    if (!open.empty()) nesting.parent[index(entry.event)] = open.back()->event;
    nesting.order.push_back(entry.event);
    open.push_back(&entry);
  }
}

}  // namespace

bool is_host_event(EventKind kind) { return depth_rank(kind) < 6; }

Nesting nest(const EventTable& events) {
  Nesting nesting;
  nesting.parent.assign(events.size(), none<EventId>);
  nesting.track_begin.assign(events.tracks.size() + 1, 0);
  std::vector<std::size_t> count(events.tracks.size() + 1, 0);
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (is_host_event(events.kind[i])) ++count[index(events.track[i])];
  }
  std::vector<std::vector<Entry>> entries(events.tracks.size());
  for (std::size_t t = 0; t < entries.size(); ++t) entries[t].reserve(count[t]);
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!is_host_event(events.kind[i])) continue;
    entries[index(events.track[i])].push_back({events.start_ns[i],
                                               events.start_ns[i] + events.duration_ns[i],
                                               depth_rank(events.kind[i]), make_id<EventId>(i)});
  }
  const std::int64_t rounding_ns = std::max<std::int64_t>(events.info.resolution_ns, 1);
  for (std::size_t t = 0; t < entries.size(); ++t) {
    nest_track(entries[t], rounding_ns, nesting);
    nesting.track_begin[t + 1] = nesting.order.size();
  }
  return nesting;
}

}  // namespace foretrace::trace
