// What the device draws in a predicted step.
#pragma once

#include <cstdint>
#include <optional>

#include "apps/session/predict.h"
#include "models/hardware/power/energy.h"

namespace foretrace {

/// As step_energy() of a predicted step. None too where a what-if alters what the run is on (a
/// clock, a part of the device) other than by another accelerator: what that draws is not known.
[[nodiscard]] Result<std::optional<Energy>> predicted_energy(const Catalogue& catalogue,
                                                             const Prediction& prediction,
                                                             std::int64_t compute_ns);

}  // namespace foretrace
