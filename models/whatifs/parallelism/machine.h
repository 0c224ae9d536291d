// The machine that a spread run is on: a cluster file, or the usual one of the recorded
// accelerator.
#pragma once

#include <string>

#include "models/editing/what_if_input.h"
#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/networks/cluster.h"
#include "sim/core/result.h"
#include "sim/edit/options.h"

namespace foretrace::editing {

/// `named`: a name of configs/clusters or a .json file; "recording": the machine whose file says
/// that it is the usual one of the recorded accelerator, or of its sibling with other memory.
[[nodiscard]] Result<Cluster> machine_of(const WhatIfInput& scenario, const std::string& named);

/// A time with its bounds.
struct TransferTime {
  std::int64_t ns = 0;
  Trust trust;
};
[[nodiscard]] TransferTime transfer_time(const Cluster& cluster, const CollectiveCall& call);

}  // namespace foretrace::editing
