// Which files of a folder are the graphs of nodes of one job.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/core/result.h"

namespace foretrace::trace {

/// As list_files() for execution traces of Chakra. Errors: also a folder without any.
[[nodiscard]] Result<std::vector<std::string>> list_node_files(std::span<const std::string> inputs);

}  // namespace foretrace::trace
