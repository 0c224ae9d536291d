// Runs of `schedule` that are no jobs: what the file holds decides.
#pragma once

#include <string>

#include "apps/report/section.h"
#include "models/catalogue/catalogue.h"
#include "sim/core/result.h"

namespace foretrace::report {

/// True if the file holds requests to a served model, streams, or tasks or tables to map.
[[nodiscard]] bool holds_no_jobs(const std::string& path);
/// The answer to such a file.
[[nodiscard]] Result<Page> page_without_jobs(const Catalogue& catalogue, const std::string& path);

}  // namespace foretrace::report
