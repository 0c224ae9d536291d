// What a row says of the layers of a model alone: their times and operators on a rank of the first
// stage, and what that rank holds of them.
#pragma once

#include <span>
#include <string>

#include "models/jobs/scenario/scenario.h"
#include "tests/validation/maps/figure.h"

namespace foretrace::validation {

/// Seconds of one layer, of what is asked for. The range: each source of times at its ends,
/// combined as independent errors.
[[nodiscard]] Result<Figure> layer_time(const Scenario& scenario, bool forward, bool backward);
/// Seconds of the forward operators of a layer that have these names.
[[nodiscard]] Result<Figure> operators_time(const Scenario& scenario,
                                            std::span<const std::string> names);

/// GiB without what embedding and head hold.
struct LayersMemory {
  double states = 0;  ///< weights, gradients and the optimizer's
  double activations = 0;
};
[[nodiscard]] Result<LayersMemory> layers_memory(const Scenario& scenario);

/// Of a training step.
[[nodiscard]] Result<double> forward_share(const Scenario& scenario);

}  // namespace foretrace::validation
