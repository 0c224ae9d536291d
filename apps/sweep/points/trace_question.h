// What a point asks of a recording: which what-ifs, which step, which engine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/session/predict.h"
#include "apps/session/recording/load.h"
#include "apps/session/scenario/trace_scenario.h"
#include "models/hardware/catalogue/catalogue.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace::sweeping {

struct TraceQuestion {
  std::vector<std::string> traces{};
  std::vector<WhatIf> stack{};      ///< in the order in which they are applied
  std::vector<std::string> keys{};  ///< of the stack: equal ones are the same what-if
  RunOptions options{};
  /// The run spread over a cluster; the stack is not complete before the recording is known.
  std::optional<TraceScenario> scenario{};
};

/// Reads {"trace", "apply", ...}, or a scenario whose workload is a trace; files it names are
/// relative to `folder`.
[[nodiscard]] Result<TraceQuestion> read_question(const ConfigValue& document,
                                                  const std::string& folder);

/// Adds to the stack what the scenario means for this recording.
[[nodiscard]] Status complete_stack(const Recording& recording, const Catalogue& catalogue,
                                    TraceQuestion& question);

}  // namespace foretrace::sweeping
