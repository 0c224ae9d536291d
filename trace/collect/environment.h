// What a recording says of the program and its machine, in words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trace/collect/recording.h"

namespace foretrace::trace::collector {

/// Command, process, versions and how well the clocks of device and machine kept together.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> environment_of(
    const Recording& recording);

}  // namespace foretrace::trace::collector
