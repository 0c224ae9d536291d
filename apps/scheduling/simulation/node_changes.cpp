#include "apps/scheduling/simulation/node_changes.h"

#include <algorithm>

#include "sim/core/units.h"

namespace foretrace::scheduling {

NodeChanges::NodeChanges(const Cluster& cluster, const RunOptions& options, std::int64_t begin_ns)
    : failures_(options.failures),
      random_(options.failures.seed),
      outages_(cluster.nodes.size(), 0),
      repair_ends_(cluster.nodes.size(), never_ns) {
  for (const Outage& outage : options.outages) {
    queue_.push({.time_ns = outage.begin_ns, .node = outage.node, .up = false});
    queue_.push({.time_ns = outage.end_ns, .node = outage.node, .up = true});
  }
  for (std::size_t i = 0; failures_.mean_between_ns > 0 && i < cluster.nodes.size(); ++i) {
    plan_failure(make_id<NodeId>(i), begin_ns);
  }
}

void NodeChanges::plan_failure(NodeId node, std::int64_t from_ns) {
  const double gap_s = random_.exponential(static_cast<double>(failures_.mean_between_ns) / 1e9);
  const std::int64_t begin_ns = later(from_ns, duration_from_seconds(gap_s).count());
  const std::int64_t end_ns = later(begin_ns, std::max<std::int64_t>(1, failures_.repair_ns));
  repair_ends_[index(node)] = end_ns;
  queue_.push({.time_ns = begin_ns, .node = node, .up = false});
  queue_.push({.time_ns = end_ns, .node = node, .up = true});
}

std::int64_t NodeChanges::next_ns() const {
  return queue_.empty() ? never_ns : queue_.top().time_ns;
}

NodeChange NodeChanges::take() {
  NodeChange change = queue_.top();
  queue_.pop();
  std::int32_t& outages = outages_[index(change.node)];
  outages += change.up ? -1 : 1;
  if (change.up && change.time_ns == repair_ends_[index(change.node)]) {
    plan_failure(change.node, change.time_ns);
  }
  change.up = outages == 0;
  return change;
}

}  // namespace foretrace::scheduling
