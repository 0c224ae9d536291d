// Collectives that a trace holds. On a machine they take the time that it needs and nothing else:
// what a rank spends waiting inside them for ranks that are not recorded goes. Among more copies of
// the job they take longer by what the machine needs more.
#pragma once

#include <cstdint>
#include <string>

#include "models/editing/transfers/transfers.h"
#include "models/hardware/networks/cluster.h"
#include "sim/edit/editor.h"

namespace foretrace::editing {

/// Sets the durations of all transfers; groups whose size is not recorded have `ranks`, 0: as many
/// as the largest. Returns what was done, for a note.
[[nodiscard]] Result<std::string> regroup(Editor& editor, const Cluster& cluster,
                                          std::uint32_t ranks);

struct GrownGroups {
  double growth = 1;               ///< copies, as a multiple of the recorded ones
  bool shares_states = false;      ///< each copy updates a part: gradients are scattered
  bool shares_parameters = false;  ///< and holds it: parameters are collected in passes
  std::string note;
};

/// The groups that exchange gradients have `copies` ranks from now on; groups that share layers keep
/// theirs, as do those whose tokens travel to experts, and stages lie as far apart as more copies
/// need. Measured times stay, and change by what the machine needs more: as many copies as recorded
/// change nothing. One copy exchanges nothing and meets nobody. Errors: no group has known copies,
/// they are of several sizes, or no collective's size was recorded.
[[nodiscard]] Result<GrownGroups> grow_groups(Editor& editor, const Cluster& cluster,
                                              std::uint32_t copies);

}  // namespace foretrace::editing
