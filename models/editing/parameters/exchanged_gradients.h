// How many numbers the gradients of a model are, by what its ranks exchange.
#pragma once

#include <map>
#include <vector>

#include "models/editing/tensors/training_pass.h"

namespace foretrace::editing {

struct ExchangedGradients {
  /// That a rank gives to all-reduces and reduce-scatters. Once, where an all-reduce of another
  /// group adds up the share that a reduce-scatter left (HSDP).
  double numbers = 0;
  double held = 0;    ///< that it has afterwards: of a reduce-scatter its own share
  bool typed = true;  ///< false: some collectives do not tell their type, and are taken for fp32
};

/// By device, by recorded sizes: of the pass that exchanges most. Passes that leave their gradients
/// to a later one exchange nothing. Empty where no sizes are recorded.
[[nodiscard]] std::map<DeviceOfRank, ExchangedGradients> exchanged_gradients(
    const TaskGraph& graph, const std::vector<TrainingPass>& passes);

}  // namespace foretrace::editing
