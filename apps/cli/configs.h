// The folder of configs that the program was started with, and its catalogue.
#pragma once

#include <string>

#include "models/catalogue/catalogue.h"
#include "sim/core/result.h"

namespace foretrace::app {

/// $FORETRACE_CONFIGS, else beside the executable's prefix, else those of the source tree. Error:
/// the environment names what is no folder.
[[nodiscard]] Status find_configs(const std::string& source_tree);
/// What find_configs() found.
[[nodiscard]] const std::string& config_directory();
/// Read on first use, once. Error: a file with a mistake.
[[nodiscard]] Result<CataloguePtr> catalogue();

}  // namespace foretrace::app
