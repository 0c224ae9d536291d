// Runs of `schedule` that are no jobs: what the file holds decides.
#pragma once

#include <string>

#include "apps/report/section.h"
#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/result.h"

namespace foretrace::report {

/// False if the file holds requests to a served model, streams, a cache, federated rounds, or tasks
/// or tables to map. Error: its schema is none of those that `schedule` takes.
[[nodiscard]] Result<bool> holds_jobs(const std::string& path);
/// The answer to a file without jobs.
[[nodiscard]] Result<Page> page_without_jobs(const Catalogue& catalogue, const std::string& path);

}  // namespace foretrace::report
