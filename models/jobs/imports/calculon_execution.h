// Calculon's execution files: parallelism, schedule, batch, recomputation and precision of a job.
#pragma once

#include "models/hardware/catalogue/imported_file.h"
#include "models/jobs/program/job.h"
#include "sim/core/result.h"

namespace foretrace {

/// What the file says goes into `job`. What is a matter of the framework or the network in ours
/// (fusion, overlap, the network of a group) is left aside. Errors: a member that is missing or
/// something else, processes that are not the product of the groups, offloading.
[[nodiscard]] Status read_calculon_execution(const ImportedFile& file, Job& job);

}  // namespace foretrace
