// The recordings of a folder.
#pragma once

#include <string>
#include <vector>

#include "sim/core/result.h"
#include "trace/table/events.h"

namespace foretrace::driver {

/// Traces in JSON below a folder, relative to it and sorted.
[[nodiscard]] Result<std::vector<std::string>> traces_below(const std::string& folder);

[[nodiscard]] bool has_device_work(const trace::EventTable& events);
[[nodiscard]] bool has_host_calls(const trace::EventTable& events);

}  // namespace foretrace::driver
