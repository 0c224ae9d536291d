// When nodes go down and come back: given outages and random failures, in the order of time.
#pragma once

#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

#include "apps/scheduling/model/cluster.h"
#include "apps/scheduling/simulation/run.h"
#include "sim/core/mersenne.h"

namespace foretrace::scheduling {

struct NodeChange {
  std::int64_t time_ns = 0;
  NodeId node{};
  bool up = false;
};

class NodeChanges {
 public:
  NodeChanges(const Cluster& cluster, const RunOptions& options, std::int64_t begin_ns);

  /// never_ns: no node changes any more.
  [[nodiscard]] std::int64_t next_ns() const;
  /// Takes the next change. A node is up again when all of its outages are over.
  NodeChange take();

 private:
  struct Later {
    bool operator()(const NodeChange& a, const NodeChange& b) const {
      return std::tuple(a.time_ns, a.node, a.up) > std::tuple(b.time_ns, b.node, b.up);
    }
  };
  void plan_failure(NodeId node, std::int64_t from_ns);

  Failures failures_;
  Random random_;
  std::priority_queue<NodeChange, std::vector<NodeChange>, Later> queue_;
  std::vector<std::int32_t> outages_;      ///< that a node is in
  std::vector<std::int64_t> repair_ends_;  ///< of the failure that is planned or going on
};

}  // namespace foretrace::scheduling
