// Which sends wait for their receiver, and which leave the message in a buffer and end.
#pragma once

#include <cstddef>
#include <span>

#include "trace/annotate/collectives/collectives.h"
#include "trace/ranks/matching/match.h"

namespace foretrace::trace {

/// Sets CollectiveMember::waits of every message, on the matching's clocks. A send whose kernel
/// ended before its receiver began was buffered, and so are smaller ones; one that spent most of
/// its time before that waited, and larger ones do unless as much was buffered. A channel that
/// shows nothing for a size is like the other channels of the job. Where they show nothing either,
/// sends are taken as buffered.
void find_buffered(std::span<const RankCollectives> ranks, JobMatching& matching);

/// Complete messages whose sends are taken as buffered because nothing shows whether they wait.
[[nodiscard]] std::size_t unseen_sends(std::span<const RankCollectives> ranks,
                                       const JobMatching& matching);

}  // namespace foretrace::trace
