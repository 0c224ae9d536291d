// A recording under what-ifs: applied in order, simulated, with the range of the step.
#pragma once

#include <span>

#include "apps/session/prediction.h"
#include "apps/session/recording/recording.h"
#include "apps/session/replay/replay.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// What the what-ifs make of the recording, in their own order: that of `stack` does not matter.
/// `baseline` is the replay of the recording, made anew if null. ErrorCode::no_match if a what-if
/// finds nothing to change. Throws BrokenLaw where the answer cannot be.
[[nodiscard]] Result<Prediction> predict(const Recording& recording, std::span<const WhatIf> stack,
                                         const RunOptions& options = {},
                                         const Replay* baseline = nullptr);

/// The point alone, without a range: what costs little. The rest as of predict().
[[nodiscard]] Result<ChangedRun> changed_run(const Recording& recording,
                                             std::span<const WhatIf> stack,
                                             const RunOptions& options = {});

/// Durations that a further measurement would tell: they lose the bounds that what-ifs declare.
struct Settled {
  bool transfers = false;         ///< of collectives and messages
  bool unshaped_kernels = false;  ///< of kernels whose operator has no recorded shapes
  bool kernels = false;           ///< of all device work but transfers
  [[nodiscard]] bool any() const { return transfers || unshaped_kernels || kernels; }
};
/// How a run is predicted.
struct PredictHow {
  RunOptions run{};
  const Replay* baseline = nullptr;  ///< made anew if null
  Settled settled{};
};
[[nodiscard]] Result<Prediction> predict(const Recording& recording, std::span<const WhatIf> stack,
                                         const PredictHow& how);

/// The changed graph at both ends of what the stack declares: every edited duration and every
/// parameter with a range where it makes the run fastest, and slowest.
struct PredictionEnds {
  TaskGraph fast;
  TaskGraph slow;
};
[[nodiscard]] Result<PredictionEnds> predict_ends(const Recording& recording,
                                                  std::span<const WhatIf> stack);

}  // namespace foretrace
