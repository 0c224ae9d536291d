// What a plan is asked for by name: model, machine, framework, precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "models/hardware/catalogue/catalogue.h"
#include "models/jobs/scenario/scenario.h"
#include "sim/core/result.h"

namespace foretrace {

struct PlanRequest {
  std::string model;
  std::string cluster;
  std::string framework;     ///< empty: usual_framework()
  std::string precision;     ///< empty: usual_precision()
  std::size_t sequence = 0;  ///< tokens; 0: usual_length()
};

/// Tokens of a sequence that a model is mostly trained with: its positions, and no more than 8,192.
[[nodiscard]] double usual_length(const TransformerSpec& model);

/// That of the catalogue which is `usual_on` the platform of this device; of a device that programs
/// of no known platform are written for, that of CUDA. Error: of a file.
[[nodiscard]] Result<Framework> usual_framework(const Catalogue& known,
                                                const Accelerator& accelerator);

/// In which models are mostly trained on this machine: bf16, else fp16, else fp32.
[[nodiscard]] std::string_view usual_precision(const Accelerator& accelerator);

/// A scenario whose plan does not matter yet. Errors name the nearest name, and frameworks of the
/// cluster's platform in place of one that does not run there.
[[nodiscard]] Result<Scenario> scenario_of(const Catalogue& known, const PlanRequest& request);

/// The largest power of two that is at most this.
[[nodiscard]] std::uint32_t power_of_two_within(std::uint32_t most);

}  // namespace foretrace
