// Which sends wait for their receiver, and which leave the message in a buffer and end.
#pragma once

#include <span>

#include "trace/annotate/collectives/collectives.h"
#include "trace/ranks/matching/match.h"

namespace foretrace::trace {

/// Sets CollectiveMember::waits of every message, on the matching's clocks. A send whose kernel
/// ended before its receiver began was buffered; one that spent most of its time before that
/// waited. What nothing is seen of is like others of its channel: messages from the smallest that
/// waited on wait, unless as much was buffered.
void find_buffered(std::span<const RankCollectives> ranks, JobMatching& matching);

}  // namespace foretrace::trace
