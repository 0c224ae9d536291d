// Files that a scenario names, and where they are.
#pragma once

#include <functional>
#include <string>

#include "sim/core/config.h"

namespace foretrace::driver {

/// True if the workload of the scenario is a recording.
[[nodiscard]] bool has_trace(const ConfigValue& scenario);

/// The file that a name in a file of `folder` means: the one beside it, or else the one that is
/// called so from the working folder. The first of the two if neither is there.
[[nodiscard]] std::string file_named(const std::string& folder, const std::string& name);

/// Puts what `place` makes of it in the place of each name of a file: a trace, an execution, and
/// models, clusters and frameworks that are named with a folder or as .json.
void place_files(ConfigValue& scenario,
                 const std::function<std::string(const std::string& name)>& place);
/// What stands in the file at `path`, with its names as file_named() finds them.
void place_files_of(const std::string& path, ConfigValue& scenario);

}  // namespace foretrace::driver
