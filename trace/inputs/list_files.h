// Which files a run consists of.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/core/result.h"

namespace foretrace::trace {

/// The inputs, folders replaced by the traces in them, in order of name. Errors: a folder without
/// traces, or with those of several jobs; standard input twice.
[[nodiscard]] Result<std::vector<std::string>> list_files(std::span<const std::string> inputs);

}  // namespace foretrace::trace
