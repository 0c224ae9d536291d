// A graph as the peers take it: tasks on resources and dependencies, in a file of plain numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace::bench {

/// A dependency in numbers; points as in the graph (2 task + 1 for its end), -1 for none.
struct PeerDependency {
  std::int64_t source = -1;
  std::int64_t late_after = -1;
  std::int64_t lag_ns = 0;  ///< the fraction of a duration, if any, included
};

struct PeerGraph {
  std::vector<std::int64_t> lane;
  std::vector<std::int64_t> duration_ns;
  std::vector<std::int64_t> segment_ns;
  std::vector<std::int64_t> first;           ///< per task: its first dependency; size tasks + 1
  std::vector<PeerDependency> dependencies;  ///< lane order left out: a peer's resource keeps it
};

[[nodiscard]] PeerGraph peer_graph(const TaskGraph& graph);

/// Numbers as text, one per line: tasks, dependencies, then the columns.
[[nodiscard]] bool write_peer_graph(const PeerGraph& graph, const std::string& path);
[[nodiscard]] PeerGraph read_peer_graph(const std::string& path);

/// The edges of a longest-path problem with the same answer: "source target ns" per line, the root
/// is node `tasks`, the sink `tasks + 1`. Conditions are taken as they came out.
[[nodiscard]] bool write_longest_path(const TaskGraph& graph, const Timeline& timeline,
                                      const std::string& path);

}  // namespace foretrace::bench
