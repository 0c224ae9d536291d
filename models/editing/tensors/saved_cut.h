// Which feature maps a training pass keeps, if cheap operators may run again in the backward pass.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/editing/tensors/tensor_uses.h"

namespace foretrace::editing {

struct SavedCut {
  std::vector<TensorId> dropped;     ///< kept as recorded, made again instead; ascending
  std::vector<std::uint32_t> again;  ///< runs that make them, and what these need; ascending
  double kept_bytes = 0;             ///< of maps that the backward pass reads, as recorded
  double saved_bytes = 0;            ///< of those that still have to be kept
};

/// The smallest cut between what has to be there (results of runs that are not cheap, and what is
/// on the device anyway) and what the backward pass reads: of the maps that are kept as recorded,
/// those that everything else can be made from by cheap runs.
[[nodiscard]] SavedCut choose_saved(const TaskGraph& graph, const TensorUses& uses,
                                    const std::function<bool(const OperatorRun&)>& is_cheap);

}  // namespace foretrace::editing
