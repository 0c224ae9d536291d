// A config value as JSON again.
#pragma once

#include <string>

#include "sim/core/config.h"

namespace foretrace {

/// The value as JSON on one line, members in their order. Values with equal texts are equal.
[[nodiscard]] std::string json_text(const ConfigValue& value);

}  // namespace foretrace
