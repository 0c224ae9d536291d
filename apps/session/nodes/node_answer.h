// Chakra's execution traces of a job on a cluster: its step, where it goes, what communication
// takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/session/replay/analysis.h"
#include "apps/session/replay/doubt.h"
#include "apps/session/replay/run.h"
#include "apps/session/scenario/node_scenario.h"
#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// Exchanges of one kind and size among as many ranks, on as many nodes of the cluster.
struct ExchangeRow {
  CollectiveKind kind = CollectiveKind::none;
  std::uint32_t ranks = 0;
  std::uint32_t nodes = 1;
  std::int64_t bytes = -1;  ///< -1: a barrier
  std::uint64_t count = 0;
  std::int64_t ns = 0;  ///< of one
  Provenance provenance = Provenance::assumed;
};

struct NodeAnswer {
  std::size_t ranks = 0;
  std::uint64_t nodes = 0;  ///< of all traces
  std::string format;
  std::string groups;  ///< list of groups that counts; empty: what the traces say
  TaskGraph graph;
  Run run;
  Analysis analysis;
  std::int32_t busiest_rank = 0;          ///< computes most; the breakdown is its own
  std::vector<ExchangeRow> exchanges;     ///< most time first
  std::int64_t recorded_transfer_ns = 0;  ///< what the traces say of all ranks' communication
  std::int64_t transfer_ns = 0;           ///< the same here
  std::vector<std::string> warnings;      ///< of reading the traces, too: each names its file
  std::vector<Doubt> doubts;              ///< a trace is truncated
};

[[nodiscard]] Result<NodeAnswer> answer_nodes(const NodeScenario& scenario);

}  // namespace foretrace
