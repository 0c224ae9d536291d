// What `explain` says of an accelerator: its figures, each with its source.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "apps/report/text.h"
#include "models/hardware/catalogue/accelerator.h"

namespace foretrace::app {

[[nodiscard]] std::string accelerator_text(const Accelerator& accelerator,
                                           const report::TextStyle& style);
[[nodiscard]] nlohmann::ordered_json accelerator_json(const Accelerator& accelerator);

}  // namespace foretrace::app
