// Fills a cluster: requests come one after the other and nothing ever leaves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/scheduling/model/cluster.h"
#include "apps/scheduling/model/job.h"
#include "apps/scheduling/placements/placement.h"

namespace foretrace::scheduling {

/// The cluster after a request came, whether it could be placed or not.
struct FillPoint {
  std::int64_t asked_milli = 0;      ///< parts of accelerators that were asked for so far
  std::int64_t allocated_milli = 0;  ///< of these, placed
  std::int32_t rejected = 0;         ///< requests that found no room so far
};

/// A request that does not fit is dropped. One point per request.
[[nodiscard]] std::vector<FillPoint> fill(const Cluster& cluster, std::span<const Request> requests,
                                          Placement& placement);

}  // namespace foretrace::scheduling
