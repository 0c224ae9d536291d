// Collectives that a trace holds, with the time that a machine needs for them and nothing else:
// what a rank spends waiting inside them for ranks that are not recorded goes.
#pragma once

#include <cstdint>
#include <string>

#include "models/editing/transfers/transfers.h"
#include "models/hardware/networks/cluster.h"
#include "sim/edit/editor.h"

namespace foretrace::editing {

struct RegroupOptions {
  double growth = 1;        ///< ranks of every group, times this
  std::uint32_t ranks = 0;  ///< of groups whose size is not recorded; 0: the largest group's
};

/// Sets the durations of all transfers. Returns what was done, for a note.
[[nodiscard]] Result<std::string> regroup(Editor& editor, const Cluster& cluster,
                                          const RegroupOptions& options);

}  // namespace foretrace::editing
