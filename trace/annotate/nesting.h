// Which host event lies in which: events of a track as a forest, outer before inner.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trace/table/events.h"

namespace foretrace::trace {

/// Host events as one forest per track. Device work and projected annotations are not part of it.
struct Nesting {
  std::vector<EventId> order;            ///< by (track, start), a container before its content
  std::vector<std::size_t> track_begin;  ///< per track into order; one more than tracks
  std::vector<EventId> parent;           ///< per event of the table; none at the top level

  [[nodiscard]] std::span<const EventId> of(TrackId track) const {
    const std::size_t begin = track_begin[index(track)];
    return std::span(order).subspan(begin, track_begin[index(track) + 1] - begin);
  }
  [[nodiscard]] EventId parent_of(EventId event) const { return parent[index(event)]; }
};

/// True for the kinds that nest on a host track.
[[nodiscard]] bool is_host_event(EventKind kind);

/// Builds the forest with one sort per track and one stack.
[[nodiscard]] Nesting nest(const EventTable& events);

}  // namespace foretrace::trace
