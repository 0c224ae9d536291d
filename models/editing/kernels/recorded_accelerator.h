// The accelerator of a recording: known from its device, or named by a parameter.
#pragma once

#include <string>

#include "models/editing/what_if_input.h"
#include "models/hardware/catalogue/accelerator.h"
#include "sim/core/params.h"
#include "sim/core/result.h"

namespace foretrace::editing {

/// Of what-ifs that need to know the device, for `recorded_accelerator`.
inline constexpr ParamInfo recorded_accelerator_param = {
    .name = "accelerator",
    .type = ParamType::text,
    .default_text = "recording",
    .doc = "Accelerator of the recording, if its device name is unknown.",
    .config = "accelerators"};

/// `named` is the parameter's text: "recording", or the name of an accelerator of the catalogue.
/// unsupported, with the way out, if the recording's is not known.
[[nodiscard]] Result<const Accelerator*> recorded_accelerator(const WhatIfInput& scenario,
                                                              const std::string& named);

}  // namespace foretrace::editing
