// A cluster with single fields changed: "dgx_h100:nic_bandwidth=25GB/s,nodes=64".
#pragma once

#include <string_view>

#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace {

/// The document of a cluster file with fields changed, each "key=value" where the key stands once
/// in it: at its top, in "node" or in "network". What was measured of a machine with other links
/// goes: curves between nodes with a field of the network, all of them with one of the node;
/// regimes of a node follow the bandwidth of its links. Errors name the key, and the nearest one.
[[nodiscard]] Result<ConfigValue> changed_cluster(const ConfigValue& document,
                                                  std::string_view changes);

}  // namespace foretrace
