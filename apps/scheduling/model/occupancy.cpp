#include "apps/scheduling/model/occupancy.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace foretrace::scheduling {

std::int64_t share_of(std::int64_t whole_amount, std::int32_t gpus, const Request& request) {
  if (request.gpus <= 0 || gpus >= request.gpus) return whole_amount;
  return (whole_amount * gpus + request.gpus - 1) / request.gpus;
}

std::int32_t NodeFree::free_gpus() const {
  return static_cast<std::int32_t>(std::count(milli.begin(), milli.end(), whole));
}

std::int32_t NodeFree::free_milli() const {
  return std::accumulate(milli.begin(), milli.end(), std::int32_t{0});
}

bool NodeFree::has_host_room(const Request& request, std::int32_t used) const {
  if (!up || !request.allows(kind)) return false;
  if (counts_cpu && share_of(request.cpu_milli, used, request) > cpu_milli) return false;
  return !counts_memory || share_of(request.memory_mib, used, request) <= memory_mib;
}

bool NodeFree::fits(const Request& request) const {
  if (!has_host_room(request, request.gpus)) return false;
  if (request.gpus == 0) return true;
  if (request.milli == whole) return free_gpus() >= request.gpus;
  return std::any_of(milli.begin(), milli.end(),
                     [&](std::int32_t free) { return free >= request.milli; });
}

Occupancy::Occupancy(const Cluster& cluster)
    : versions_(cluster.nodes.size(), 1),
      free_(cluster.kinds.size()),
      capacity_(cluster.kinds.size()),
      holders_(cluster.nodes.size(), 0),
      whole_nodes_(cluster.nodes) {
  nodes_.reserve(cluster.nodes.size());
  for (const Node& node : cluster.nodes.values()) {
    NodeFree free;
    free.kind = node.kind;
    free.gpus = node.gpus;
    free.cpu_milli = node.cpu_milli;
    free.memory_mib = node.memory_mib;
    free.counts_cpu = node.cpu_milli > 0;
    free.counts_memory = node.memory_mib > 0;
    free.milli.assign(static_cast<std::size_t>(node.gpus), whole);
    nodes_.push_back(std::move(free));
    free_[node.kind] += node.gpus;
    capacity_[node.kind] += node.gpus;
  }
}

void Occupancy::move(const Slice& slice, std::int32_t sign) {
  NodeFree& node = nodes_[slice.node];
  ++versions_[slice.node];
  const std::int32_t before = node.free_gpus();
  for (std::size_t i = 0; i < node.milli.size(); ++i) {
    if ((slice.gpus >> i & 1U) == 0) continue;
    node.milli[i] += sign * slice.milli;
    allocated_milli_ -= std::int64_t{sign} * slice.milli;
  }
  node.cpu_milli += sign * slice.cpu_milli;
  node.memory_mib += sign * slice.memory_mib;
  if (node.up) free_[node.kind] += node.free_gpus() - before;
  std::int32_t& holders = holders_[slice.node];
  const bool was_used = holders > 0;
  holders -= sign;
  const Node& whole_node = whole_nodes_[slice.node];
  if (was_used != (holders > 0)) {
    used_.nodes -= sign;
    used_.cpu_milli -= sign * whole_node.cpu_milli;
    used_.memory_mib -= sign * whole_node.memory_mib;
  }
  if (node.counts_cpu) used_.held_cpu_milli -= sign * slice.cpu_milli;
  if (node.counts_memory) used_.held_memory_mib -= sign * slice.memory_mib;
}

void Occupancy::set_up(NodeId id, bool up) {
  NodeFree& node = nodes_[id];
  if (node.up == up) return;
  node.up = up;
  ++versions_[id];
  const std::int32_t sign = up ? 1 : -1;
  free_[node.kind] += sign * node.free_gpus();
  capacity_[node.kind] += sign * node.gpus;
}

}  // namespace foretrace::scheduling
