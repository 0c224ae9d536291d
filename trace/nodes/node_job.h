// The ranks of a job as one task graph, from traces that are graphs of nodes: computation keeps its
// duration, communication that ranks have with each other takes what its price says.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/core/result.h"
#include "sim/graph/task_graph.h"
#include "trace/graph/built_graph.h"
#include "trace/nodes/node_groups.h"

namespace foretrace::trace {

/// What some ranks do together: a collective of a group, or a message.
struct NodeExchange {
  CollectiveKind kind = CollectiveKind::none;
  std::int64_t bytes = -1;  ///< as nccl-tests counts them; -1: a barrier
  std::vector<std::int32_t> ranks;
};
struct ExchangeTime {
  std::int64_t ns = 0;
  Provenance provenance = Provenance::assumed;
};
using ExchangePrice = std::function<Result<ExchangeTime>(const NodeExchange&)>;

struct NodeJob {
  TaskGraph graph;
  std::uint64_t exchanges = 0;
  /// What each rank's part of every exchange takes, one after another: as priced, and as the files
  /// say. 0 where one of the files says nothing of durations.
  std::int64_t transfer_ns = 0;
  std::int64_t recorded_transfer_ns = 0;
  std::vector<std::string> warnings;
};

/// Every n-th collective of a group is the same on all its ranks: each waits until all are there. A
/// message leaves when its sender has come to it, and is awaited by its receiver. Where no streams
/// are recorded, communication of one group, or with one peer in one direction, keeps its order,
/// and nothing else does. Errors: what NodeGroups refuses, ranks that disagree on a collective,
/// messages without the other end, communication without a size, more than a
/// graph may take in all, ranks that wait for each other.
[[nodiscard]] Result<NodeJob> build_node_job(std::span<const RankNodes> ranks,
                                             const NodeGroups& groups, const NodeCosts& costs,
                                             const ExchangePrice& price);

}  // namespace foretrace::trace
