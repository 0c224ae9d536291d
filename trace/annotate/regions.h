// Host regions: named, non-overlapping stretches of the host threads.
#pragma once

#include <vector>

#include "trace/annotate/host_phases.h"

namespace foretrace::trace {

/// The regions of every track, by (track, start). Needs phases and layers.
[[nodiscard]] std::vector<HostRegion> find_regions(Attribution& attribution);

}  // namespace foretrace::trace
