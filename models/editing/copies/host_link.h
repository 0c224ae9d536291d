// The link between device and host, as a parameter: accelerator files do not state the host's side.
#pragma once

#include "sim/core/params.h"

namespace foretrace::editing {

inline constexpr ParamInfo host_link_param = {
    .name = "bandwidth",
    .type = ParamType::bandwidth,
    .unit = "GB/s",
    .default_text = "12 GB/s",
    .doc = "Of pinned copies, each way; 12 GB/s is what PCIe 3.0 x16 reaches.",
    .minimum = 1e6,
    .maximum = 1e13,
    .optimistic = "25 GB/s",
    .pessimistic = "10 GB/s"};

}  // namespace foretrace::editing
