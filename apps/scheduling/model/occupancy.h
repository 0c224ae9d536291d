// What is free on every node of a cluster.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/scheduling/model/cluster.h"
#include "apps/scheduling/model/ids.h"
#include "apps/scheduling/model/job.h"
#include "sim/core/ids.h"

namespace foretrace::scheduling {

/// What is free on one node.
struct NodeFree {
  KindId kind{};
  std::int32_t gpus = 0;  ///< of the node, free or not
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  bool counts_cpu = false;
  bool counts_memory = false;
  bool up = true;
  std::vector<std::int32_t> milli;  ///< free parts of each accelerator

  [[nodiscard]] std::int32_t free_gpus() const;   ///< wholly free ones
  [[nodiscard]] std::int32_t free_milli() const;  ///< of all together
  /// Cores and memory for `used` of the request's accelerators, and the kind is allowed.
  [[nodiscard]] bool has_host_room(const Request& request, std::int32_t used) const;
  /// All of the request fits on this node.
  [[nodiscard]] bool fits(const Request& request) const;
};

/// Nodes that hold a job, what they have, and what of it is held.
struct NodesUsed {
  std::int64_t nodes = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::int64_t held_cpu_milli = 0;
  std::int64_t held_memory_mib = 0;
};

/// What is free in the cluster.
class Occupancy {
 public:
  explicit Occupancy(const Cluster& cluster);

  [[nodiscard]] const Column<NodeId, NodeFree>& nodes() const { return nodes_; }
  [[nodiscard]] const NodeFree& node(NodeId id) const { return nodes_[id]; }
  /// The node with nothing held.
  [[nodiscard]] const Node& whole_node(NodeId id) const { return whole_nodes_[id]; }
  /// Wholly free accelerators of a kind, of nodes that are up.
  [[nodiscard]] std::int32_t free_gpus(KindId kind) const { return free_[kind]; }
  /// Accelerators of a kind on nodes that are up.
  [[nodiscard]] std::int32_t capacity(KindId kind) const { return capacity_[kind]; }
  /// Grows with every change of the node.
  [[nodiscard]] std::uint32_t version(NodeId id) const { return versions_[id]; }
  /// Allocated parts of all accelerators.
  [[nodiscard]] std::int64_t allocated_milli() const { return allocated_milli_; }
  /// What stands on nodes that hold a job.
  [[nodiscard]] const NodesUsed& used() const { return used_; }
  /// True if the node holds a job.
  [[nodiscard]] bool is_used(NodeId id) const { return holders_[id] > 0; }

  void take(const Slice& slice) { move(slice, -1); }
  void give(const Slice& slice) { move(slice, 1); }
  void set_up(NodeId id, bool up);

 private:
  void move(const Slice& slice, std::int32_t sign);

  Column<NodeId, NodeFree> nodes_;
  Column<NodeId, std::uint32_t> versions_;
  Column<KindId, std::int32_t> free_;
  Column<KindId, std::int32_t> capacity_;
  std::int64_t allocated_milli_ = 0;
  Column<NodeId, std::int32_t> holders_;  ///< jobs on a node
  NodesUsed used_;
  Column<NodeId, Node> whole_nodes_;
};

/// The share of a request's cores and memory that goes with `gpus` of its accelerators.
[[nodiscard]] std::int64_t share_of(std::int64_t whole_amount, std::int32_t gpus,
                                    const Request& request);

}  // namespace foretrace::scheduling
