// Collectives as what-ifs see them: the tasks whose time is moving bytes, and what they move.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace::editing {

/// The part of a collective that moves bytes, on one rank.
struct Transfer {
  TaskId task{};
  /// False: a kernel whose ranks are not all in the graph; its time may hold waiting for them.
  bool met = false;
};

/// Among the tasks that a selection means, those that transfer: the finish of a collective that
/// meets other ranks, the whole of one that does not. Errors: as Selection::parse(); no_match.
[[nodiscard]] Result<std::vector<Transfer>> find_transfers(const TaskGraph& graph,
                                                           std::string_view selection);

/// Which part of a transfer moves bytes, where the other ranks are not recorded: a collective waits
/// for them first. The shortest of those that move the same waited least; no more than its time is
/// transfer in any of them.
class MovingTimes {
 public:
  MovingTimes(const TaskGraph& graph, const std::vector<Transfer>& transfers);

  [[nodiscard]] std::int64_t of(const Transfer& transfer) const;

 private:
  using Key = std::tuple<LaneId, CollectiveKind, std::uint32_t, std::int64_t, WorkId>;
  [[nodiscard]] Key key_of(TaskId task) const;

  const TaskGraph& graph_;
  std::map<Key, std::int64_t> shortest_;
};

/// Communicators whose ranks hold parts of one layer, by index: they reduce activations while a
/// forward pass runs.
[[nodiscard]] std::set<std::uint32_t> layer_splitting(const TaskGraph& graph,
                                                      const std::vector<Transfer>& transfers);
/// "a, b"; "unnamed" where no name was recorded.
[[nodiscard]] std::string names_of(const TaskGraph& graph,
                                   const std::set<std::uint32_t>& communicators);
/// no_match: none of these can have more ranks, which would do other work than those recorded.
[[nodiscard]] Error cannot_grow(const TaskGraph& graph,
                                const std::set<std::uint32_t>& communicators);

}  // namespace foretrace::editing
