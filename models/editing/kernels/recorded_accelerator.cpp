// Errors here name the device of the trace, so that people know what to add.
#include "models/editing/kernels/recorded_accelerator.h"

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace::editing {

Result<const Accelerator*> recorded_accelerator(const WhatIfInput& scenario,
                                                const std::string& named) {
  if (named != "recording") return scenario.catalogue.accelerator(named);
  if (scenario.accelerator != nullptr) return scenario.accelerator;
  const auto& devices = scenario.graph.context().devices;
  const std::string device = devices.empty() ? std::string() : devices.front().name;
  return Error{ErrorCode::unsupported,
               fmt::format("unknown GPU (device name {}); add accelerator=NAME, such as h100_sxm",
                           device.empty() ? std::string("missing") : in_quotes(device))};
}

}  // namespace foretrace::editing
