// The link between device and host: as given, as recorded copies show it, or as the device's
// generation has it.
#pragma once

#include "models/hardware/catalogue/accelerator.h"
#include "sim/core/params.h"
#include "sim/graph/task_graph.h"

namespace foretrace::editing {

inline constexpr ParamInfo host_link_param = {
    .name = "bandwidth",
    .type = ParamType::bandwidth,
    .unit = "GB/s",
    .default_text = "0 GB/s",
    .doc =
        "Bandwidth of pinned copies, each way; 0: that of recorded ones of 1 MiB and more, or else "
        "80 % of the link in the accelerator's file, or of PCIe of the device's generation.",
    .minimum = 0,
    .maximum = 1e13};

/// The parameter, or what stands for it; above 0.
[[nodiscard]] double host_link_bandwidth(const TaskGraph& graph, const Accelerator* accelerator,
                                         const ParamValues& params);

}  // namespace foretrace::editing
