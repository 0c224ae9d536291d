// Which accelerator a job is drawn on: the one it held, or any free one where only numbers counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/scheduling/model/cluster.h"
#include "apps/scheduling/simulation/outcome.h"

namespace foretrace::app {

/// An accelerator of the cluster.
struct ScheduleLane {
  scheduling::NodeId node{};
  std::int32_t gpu = 0;
  std::string name;  ///< "V100 3, GPU 1"
};

/// All accelerators, by node.
[[nodiscard]] std::vector<ScheduleLane> lanes_of(const scheduling::Cluster& cluster);

/// Positions of lanes of every bar, in the order of bars.
[[nodiscard]] std::vector<std::vector<std::size_t>> lanes_of_bars(
    const scheduling::Cluster& cluster, const scheduling::Outcome& outcome);

}  // namespace foretrace::app
