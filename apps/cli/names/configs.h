// The folder of configs that the program was started with, and its catalogue.
#pragma once

#include <string>

#include "models/hardware/catalogue/catalogue.h"
#include "models/whatifs/how_to.h"
#include "sim/core/result.h"

namespace foretrace::app {

/// $FORETRACE_CONFIGS, else beside the executable's prefix, else those of the source tree.
void find_configs(const std::string& source_tree);
/// What find_configs() found.
[[nodiscard]] const std::string& config_directory();
/// Read on first use, once. Error: no such folder, a file with a mistake.
[[nodiscard]] Result<CataloguePtr> catalogue();
/// How to get what each what-if promises; the same of it.
[[nodiscard]] const Result<HowTos>& how_tos();

}  // namespace foretrace::app
