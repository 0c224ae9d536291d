// Application files of Calculon: sizes of a GPT.
#pragma once

#include <string>

#include "models/workloads/model_spec.h"
#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace {

/// Whether it has the members of an application file of Calculon.
[[nodiscard]] bool is_calculon_application(const ConfigValue& root);
/// Reads one; its vocabulary is the one that Calculon counts with.
[[nodiscard]] Result<ModelSpec> model_from_calculon(const ConfigValue& root,
                                                    const std::string& where);

}  // namespace foretrace
