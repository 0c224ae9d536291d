// Who is in the groups that nodes name: a list beside the traces, or what each trace says.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/config.h"
#include "sim/core/result.h"
#include "trace/table/events.h"
#include "trace/table/node_graph.h"

namespace foretrace::trace {

/// The trace of a rank as a graph of nodes.
struct RankNodes {
  std::int32_t rank = 0;
  const EventTable* events = nullptr;
  const NodeGraph* nodes = nullptr;
};

/// Ranks by the name of their group, ascending.
using GroupList = std::map<std::string, std::vector<std::int32_t>, std::less<>>;

/// The ranks that a list of numbers names, ascending. Error: it is no list, or names something else
/// or a rank twice.
[[nodiscard]] Result<std::vector<std::int32_t>> ranks_in(const ConfigValue& list);

/// The groups that PyTorch's node "## process_group:init ##" lists. A group without ranks in it has
/// all of the job. Empty where there is no such node.
/// Error: what ranks_in refuses.
[[nodiscard]] Result<GroupList> recorded_groups(const RankNodes& rank,
                                                std::span<const std::int32_t> all_ranks);

class NodeGroups {
 public:
  /// `listed` holds for all ranks, and `where` names it in messages; without it (both empty) what
  /// the traces say counts, and where they say nothing, whose traces name the group.
  NodeGroups(std::span<const RankNodes> ranks, GroupList listed, std::string where);

  /// Ranks, ascending. Equal lists have one id, whatever the group is called.
  struct Members {
    std::uint32_t id = 0;
    std::span<const std::int32_t> ranks;
  };
  /// Members of the group that a node of a rank names. Communication without a group is among all
  /// ranks. Errors: a group that nobody knows, one whose members are not known, a member without a
  /// trace, the rank itself left out, a list in the trace that cannot be read.
  [[nodiscard]] Result<Members> members(const RankNodes& rank, const NodeCommunication& row) const;

 private:
  using Ids = std::map<std::string, std::uint32_t, std::less<>>;  // of lists, by name of the group
  struct List {
    std::vector<std::int32_t> ranks;
    std::int32_t without_trace = -1;  ///< the first such rank
  };

  [[nodiscard]] Result<std::uint32_t> list_of(const RankNodes& rank,
                                              const NodeCommunication& row) const;
  [[nodiscard]] static Error mistake(const RankNodes& rank, const NodeCommunication& row,
                                     const std::string& what);

  std::string where_;
  std::vector<std::int32_t> ranks_;
  std::vector<List> lists_;  // each once: nodes of all ranks share them
  std::uint32_t all_ = 0;    // the list of all ranks
  Ids listed_;
  std::map<std::int32_t, Result<Ids>> recorded_;  // by rank
  Ids named_;                                     // ranks whose traces name a group
};

}  // namespace foretrace::trace
