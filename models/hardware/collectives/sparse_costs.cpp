#include "models/hardware/collectives/sparse_costs.h"

#include <algorithm>

#include "models/hardware/collectives/switch_aggregation.h"

namespace foretrace {
namespace {

/// One rank of each node, with the ports of all of them.
Placement between(const Placement& group) {
  Placement nodes = group;
  nodes.ranks = group.nodes;
  nodes.per_node = 1;
  return nodes;
}

/// There and back, and the fullest link.
double servers_ns(const Cluster& cluster, const Placement& nodes, double fullest_bytes) {
  const double message = collective_time(cluster, {CollectiveKind::send, 1, nodes}).ns;
  const double rate = nodes.nics * cluster.network.nic_bandwidth *
                      cluster.network.efficiency.typical / nodes.oversubscription;
  return 2 * message + fullest_bytes / rate * 1e9;
}

}  // namespace

SparseBlocks blocks_of_nodes(const SparseBlocks& blocks, double per_node) {
  SparseBlocks of_node = blocks;
  of_node.density = union_density(blocks, per_node);
  if (of_node.density > 0) of_node.overlap = blocks.overlap * blocks.density / of_node.density;
  return of_node;
}

double sparse_sum_ns(const Cluster& cluster, const CollectiveCall& call, const SparseSum& sum) {
  const Placement& group = call.group;
  if (group.nodes <= 1) return collective_time(cluster, call).ns;
  double inside = 0;
  if (group.per_node > 1) {
    const Placement node = place_alone(cluster, 1, group.per_node);
    inside = collective_time(cluster, {CollectiveKind::all_reduce, call.bytes, node}).ns;
  }
  const SparseBlocks blocks = blocks_of_nodes(sum.blocks, group.per_node);
  const double workers = group.nodes;
  const double servers = sum.servers > 0 ? sum.servers : workers;
  const double fullest = call.bytes * sparse_load(sum.method, blocks, workers, servers).fullest();
  const Placement nodes = between(group);
  switch (sum.method) {
    case SparseMethod::servers: return inside + servers_ns(cluster, nodes, fullest);
    case SparseMethod::network: {
      const CollectiveCall blocks_up{CollectiveKind::all_reduce, fullest, nodes};
      return inside + aggregation_ns(cluster, blocks_up, cluster.network.efficiency.typical, 0);
    }
    case SparseMethod::all_gather: {
      const double gathered = workers * blocks.density * blocks.with_index() * call.bytes;
      return inside + collective_time(cluster, {CollectiveKind::all_gather, gathered, nodes}).ns;
    }
  }
  return inside;
}

}  // namespace foretrace
