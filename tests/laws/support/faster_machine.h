// Machines that are faster than another one in some or all respects.
#pragma once

#include "models/hardware/networks/cluster.h"

namespace foretrace::test {

/// All links so many times as fast; their latencies are shorter by so much. Measured collectives
/// are gone, and clocks stand still: a device that waits less runs at a lower one, by another law.
[[nodiscard]] Cluster with_links(Cluster cluster, double faster, double shorter);

/// The same, with arithmetic and memory as much faster as links.
[[nodiscard]] Cluster faster_machine(Cluster cluster, double faster, double shorter);

}  // namespace foretrace::test
