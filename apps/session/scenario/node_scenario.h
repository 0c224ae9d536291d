// A scenario whose workload is Chakra's execution traces: nodes of every rank on a cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/hardware/networks/cluster.h"
#include "sim/core/result.h"
#include "trace/graph/built_graph.h"
#include "trace/nodes/node_groups.h"

namespace foretrace {

struct NodeScenario {
  std::string path;
  std::vector<std::string> traces;  ///< a folder, or one file per rank
  std::string groups;               ///< list of groups; empty: the one in the folder, or none
  trace::NodeCosts costs;           ///< of computation without a duration
  Cluster cluster;
};

/// Nothing if the workload of the file is something else. Errors read "<file>: /pointer: what, got
/// X, expected Y". Files are named as in place_files_of().
[[nodiscard]] Result<std::optional<NodeScenario>> read_node_scenario(const Catalogue& catalogue,
                                                                     const std::string& path);
[[nodiscard]] Result<std::optional<NodeScenario>> parse_node_scenario(const Catalogue& catalogue,
                                                                      const std::string& text,
                                                                      const std::string& where);

/// What "comm_group.json" lists, as ASTRA-sim has it: ranks by the name of their group.
[[nodiscard]] Result<trace::GroupList> read_group_list(const std::string& path);

}  // namespace foretrace
