// Files that a scenario names, and where they are.
#pragma once

#include <functional>
#include <string>

#include "sim/core/config.h"

namespace foretrace {

/// True if the workload of the scenario is a recording.
[[nodiscard]] bool has_trace(const ConfigValue& scenario);
/// The same of Chakra's execution traces, one per rank.
[[nodiscard]] bool has_chakra(const ConfigValue& scenario);

/// Puts what `place` makes of it in the place of each name of a file: a trace, traces of
/// ranks, an execution, and models, clusters and frameworks that are files (names_file()).
void place_files(ConfigValue& scenario,
                 const std::function<std::string(const std::string& name)>& place);
/// What stands in the file at `path`, with its names as file_named_in() finds them.
void place_files_of(const std::string& path, ConfigValue& scenario);

}  // namespace foretrace
