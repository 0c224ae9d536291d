// The link between device and host: as given, as recorded copies show it, or as the device's
// generation has it.
#pragma once

#include "sim/core/params.h"
#include "sim/graph/task_graph.h"

namespace foretrace::editing {

inline constexpr ParamInfo host_link_param = {
    .name = "bandwidth",
    .type = ParamType::bandwidth,
    .unit = "GB/s",
    .default_text = "0 GB/s",
    .doc =
        "Of pinned copies, each way; 0: that of recorded ones of 1 MiB and more, or else what "
        "PCIe of the device's generation reaches (3.0: 12, 4.0: 25, 5.0: 50 GB/s).",
    .minimum = 0,
    .maximum = 1e13};

/// The parameter, or what stands for it; above 0.
[[nodiscard]] double host_link_bandwidth(const TaskGraph& graph, const ParamValues& params);

}  // namespace foretrace::editing
