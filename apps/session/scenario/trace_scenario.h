// A scenario whose workload is a recorded run: what its file says, and the what-ifs that it means.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/session/recording/load.h"
#include "models/hardware/networks/cluster.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace {

struct TraceScenario {
  std::string trace;     ///< path
  std::string cluster;   ///< as it is named
  std::string settings;  ///< what `whatif --parallel` takes
};

/// Nothing if the workload of the file is a model. Errors read "<file>: /pointer: what, got X,
/// expected Y". Files are named as in place_files_of().
[[nodiscard]] Result<std::optional<TraceScenario>> read_trace_scenario(const std::string& path);
[[nodiscard]] Result<std::optional<TraceScenario>> parse_trace_scenario(const std::string& text,
                                                                        const std::string& where);
/// The same of a document that is parsed already; names of files stay as they are.
[[nodiscard]] Result<std::optional<TraceScenario>> trace_scenario_of(const ConfigValue& root,
                                                                     const std::string& where);

/// The run spread over a cluster: with an accelerator other than the recorded one, kernels are
/// moved to it.
[[nodiscard]] Result<std::vector<WhatIf>> spread_stack(const Recording& recording,
                                                       const std::string& settings,
                                                       const Cluster& cluster,
                                                       const std::string& cluster_name);
/// The same as the scenario has it. Error: no such cluster.
[[nodiscard]] Result<std::vector<WhatIf>> spread_stack(const Recording& recording,
                                                       const Catalogue& catalogue,
                                                       const TraceScenario& scenario);

}  // namespace foretrace
