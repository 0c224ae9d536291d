// What loading the data of a step takes in a recording.
#pragma once

#include <cstdint>
#include <map>

#include "sim/graph/task_graph.h"

namespace foretrace::editing {

/// By step: host time of the loading phase, and copies that block. Steps without any are left out.
[[nodiscard]] std::map<std::int32_t, std::int64_t> loading_times(const TaskGraph& graph);

}  // namespace foretrace::editing
