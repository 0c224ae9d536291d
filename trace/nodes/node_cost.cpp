#include "trace/nodes/node_cost.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "trace/nodes/node_order.h"

namespace foretrace::trace {
namespace {

std::int64_t as_ns(double seconds) {
  return static_cast<std::int64_t>(std::ceil(std::clamp(seconds * 1e9, 0.0, longest_nodes_ns)));
}

double seconds_for(std::int64_t amount, double rate) {
  return amount > 0 && rate > 0 ? static_cast<double>(amount) / rate : 0;
}

class Costs {
 public:
  Costs(const EventTable& events, const NodeGraph& graph, const NodeCosts& costs)
      : events_(events), graph_(graph), costs_(costs) {}

  Result<NodeTimes> run() {
    if (!graph_.has_durations && !has_amounts()) {
      return Error{ErrorCode::missing_cost,
                   fmt::format("{}: {} nodes and no durations: an execution trace of schema {} has "
                               "no times; add the Kineto trace of the same run",
                               events_.info.path, graph_.size(),
                               graph_.schema.empty() ? "unknown" : graph_.schema)};
    }
    times_.duration_ns = graph_.duration_ns;
    times_.provenance.assign(graph_.size(), Provenance::measured);
    std::size_t next = 0;  // of the communications, which are sorted by node
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const auto& all = graph_.communications;
      while (next < all.size() && index(all[next].node) < i) {
        ++next;
      }
      const bool has = next < all.size() && index(all[next].node) == i;
      if (graph_.duration_ns[i] >= 0) continue;
      FORETRACE_TRY(cost(make_id<NodeId>(i), has ? &all[next] : nullptr));
    }
    return std::move(times_);
  }

 private:
  [[nodiscard]] bool has_amounts() const {
    const auto recorded = [](std::int64_t amount) { return amount > 0; };
    return std::any_of(graph_.operations.begin(), graph_.operations.end(), recorded) ||
           std::any_of(graph_.bytes.begin(), graph_.bytes.end(), recorded) ||
           std::any_of(graph_.communications.begin(), graph_.communications.end(),
                       [](const NodeCommunication& c) { return c.bytes > 0; });
  }

  Status cost(NodeId node, const NodeCommunication* communication) {
    const std::size_t row = index(node);
    const bool on_host = graph_.place[row] == NodePlace::host;
    if (is_communication(graph_.kind[row]) && !on_host) {
      return cost_of_transfer(node, communication == nullptr ? -1 : communication->bytes);
    }
    const bool given = (graph_.operations[row] > 0 && costs_.operations_per_second > 0) ||
                       (graph_.bytes[row] > 0 && costs_.memory_bytes_per_second > 0);
    // Beside recorded durations a missing one is less than a microsecond.
    if (graph_.kind[row] == NodeKind::metadata || on_host || (graph_.has_durations && !given)) {
      times_.duration_ns[row] = 0;
      times_.below_resolution += graph_.kind[row] == NodeKind::metadata ? 0 : 1;
      return ok_status();
    }
    return cost_of_work(node);
  }

  Status cost_of_transfer(NodeId node, std::int64_t bytes) {
    if (costs_.without_transfers) {
      times_.duration_ns[index(node)] = 0;
      times_.provenance[index(node)] = Provenance::assumed;
      return ok_status();
    }
    if (bytes < 0 || costs_.network_bytes_per_second <= 0) {
      return missing(
          node, bytes < 0 ? "no duration and no number of bytes are recorded"
                          : fmt::format(
                                "no duration is recorded for {} bytes; state the network bandwidth",
                                bytes));
    }
    times_.duration_ns[index(node)] = as_ns(seconds_for(bytes, costs_.network_bytes_per_second));
    times_.provenance[index(node)] = Provenance::assumed;
    return ok_status();
  }

  // The longer of computing and of moving bytes.
  Status cost_of_work(NodeId node) {
    const std::int64_t operations = graph_.operations[index(node)];
    const std::int64_t bytes = graph_.bytes[index(node)];
    if (operations > 0 && costs_.operations_per_second <= 0) {
      return missing(
          node, fmt::format("no duration is recorded for {} operations; state the compute rate",
                            operations));
    }
    if (bytes > 0 && costs_.memory_bytes_per_second <= 0) {
      return missing(
          node,
          fmt::format("no duration is recorded for {} bytes; state the memory bandwidth", bytes));
    }
    if (operations <= 0 && bytes <= 0) {
      return missing(node, "no duration, operations or bytes are recorded");
    }
    const double seconds = std::max(seconds_for(operations, costs_.operations_per_second),
                                    seconds_for(bytes, costs_.memory_bytes_per_second));
    times_.duration_ns[index(node)] = as_ns(seconds);
    times_.provenance[index(node)] = Provenance::roofline;
    return ok_status();
  }

  [[nodiscard]] Error missing(NodeId node, std::string_view what) const {
    return Error{ErrorCode::missing_cost, fmt::format("{}: {}: {}", events_.info.path,
                                                      node_text(events_, graph_, node), what)};
  }

  const EventTable& events_;
  const NodeGraph& graph_;
  const NodeCosts& costs_;
  NodeTimes times_;
};

}  // namespace

Result<NodeTimes> node_times(const EventTable& events, const NodeGraph& graph,
                             const NodeCosts& costs) {
  return Costs(events, graph, costs).run();
}

void warn_below_resolution(std::uint64_t below, std::uint64_t nodes,
                           std::vector<std::string>& warnings) {
  if (below == 0) return;
  warnings.push_back(
      fmt::format("{} of {} nodes are recorded without a duration and count as 0: the format keeps "
                  "whole microseconds",
                  below, nodes));
}

const NodeCommunication* communication_of(const NodeGraph& graph, NodeId node) {
  const auto& all = graph.communications;
  const auto at = std::lower_bound(all.begin(), all.end(), node,
                                   [](const auto& row, NodeId id) { return row.node < id; });
  return at != all.end() && at->node == node ? &*at : nullptr;
}

}  // namespace foretrace::trace
