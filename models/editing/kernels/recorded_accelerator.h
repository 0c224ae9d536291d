// The accelerator of a recording: known from its device, or named by a parameter.
#pragma once

#include <string>

#include "models/catalogue/accelerator.h"
#include "models/editing/scenario.h"
#include "sim/core/result.h"

namespace foretrace::editing {

/// `named` is the parameter's text: "recording", or the name of an accelerator of the catalogue.
/// unsupported, with the way out, if the recording's is not known.
[[nodiscard]] Result<const Accelerator*> recorded_accelerator(const Scenario& scenario,
                                                              const std::string& named);

}  // namespace foretrace::editing
