// Files of the config folders by name: what is there, and what a wrong name may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/core/result.h"

namespace foretrace {

/// Stems of configs/<folder>/*.json, sorted.
[[nodiscard]] std::vector<std::string> config_names(std::string_view folder);
/// Path of configs/<folder>/<name>.json, or `name` itself if it ends in .json. Error: `what` is
/// not there, with the nearest names.
[[nodiscard]] Result<std::string> config_path(std::string_view what, std::string_view folder,
                                              std::string_view name);

}  // namespace foretrace
