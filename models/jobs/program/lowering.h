// One block: its operators become actions.
#pragma once

#include <functional>
#include <vector>

#include "models/hardware/collectives/collective_costs.h"
#include "models/jobs/program/rank_program.h"

namespace foretrace {

/// What turns operators into actions.
struct LoweringOptions {
  const KernelTimes& kernels;
  const Framework& framework;
  Recompute recompute = Recompute::none;
  bool trains = true;
  bool splits_backward = false;
  bool gathers_8_bit = false;  ///< what products of layers collect
  double tensor_ranks = 1;
  /// Time of a collective of this group.
  std::function<CollectiveTime(Axis axis, CollectiveKind kind, double bytes)> collective = {};
  /// Whether the group leaves the node.
  std::function<bool(Axis axis)> leaves_node = {};
};

/// `block` is divided already. Its actions come behind those that are there.
[[nodiscard]] RankProgram::Block lower(const Block& block, const LoweringOptions& options,
                                       std::vector<Action>& actions);

}  // namespace foretrace
