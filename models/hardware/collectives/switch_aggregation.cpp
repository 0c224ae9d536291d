#include "models/hardware/collectives/switch_aggregation.h"

#include <algorithm>

namespace foretrace {

bool switches_add_up(const Cluster& cluster, const CollectiveCall& call) {
  return call.kind == CollectiveKind::all_reduce && call.group.nodes > 1 &&
         cluster.network.aggregation.trees > 0;
}

double aggregation_levels(const Cluster& cluster, const Placement& group) {
  const std::uint32_t leaf = cluster.network.leaf_nodes;
  return leaf > 0 && group.nodes > leaf ? 2 : 1;
}

double aggregation_rate(const Cluster& cluster, const Placement& group, double efficiency) {
  const Network& network = cluster.network;
  double ports = std::min(group.nics, static_cast<double>(network.aggregation.trees));
  if (aggregation_levels(cluster, group) > 1) {
    ports = std::min(ports, network.leaf_nodes * group.nics / network.oversubscription);
  }
  return ports * std::min(network.nic_bandwidth * efficiency, network.aggregation.port_rate);
}

double aggregation_ns(const Cluster& cluster, const CollectiveCall& call, double efficiency,
                      double local_ns) {
  const Network& network = cluster.network;
  const double rate = aggregation_rate(cluster, call.group, efficiency);
  return network.aggregation.start_ns + network.step_latency_ns +
         aggregation_levels(cluster, call.group) * network.aggregation.level_latency_ns +
         std::max(local_ns, call.bytes / rate * 1e9);
}

}  // namespace foretrace
