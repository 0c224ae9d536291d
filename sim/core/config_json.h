// JSON of the configs' kind with more keys than a config has.
#pragma once

#include <cstddef>
#include <string_view>

#include "sim/core/config.h"

namespace foretrace {

/// As parse_config, with as many keys in an object; they are looked for one by one.
[[nodiscard]] Result<ConfigValue> parse_config_of(std::size_t most_keys, std::string_view text);

}  // namespace foretrace
