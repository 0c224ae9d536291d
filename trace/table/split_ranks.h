// Takes a trace of several processes apart: each that works on devices is a rank.
#pragma once

#include <cstddef>
#include <vector>

#include "trace/table/events.h"

namespace foretrace::trace {

/// Ranks whose tracks have device work; 1 for a trace of one process and for one without any.
[[nodiscard]] std::size_t rank_count(const EventTable& events);

/// One table per rank, in order of rank; the table itself if there is one. Each counts its times
/// from its own first event, and TraceInfo::first_time_ns keeps them comparable. What belongs to no
/// rank goes to the first.
[[nodiscard]] std::vector<EventTable> split_ranks(EventTable events);

}  // namespace foretrace::trace
