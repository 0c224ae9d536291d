// vTrain's configurations: parallelism, schedule, batch and recomputation of a job.
#pragma once

#include "models/hardware/catalogue/imported_file.h"
#include "models/jobs/program/job.h"
#include "sim/core/result.h"

namespace foretrace {

/// Whether it has the members of a configuration of vTrain.
[[nodiscard]] bool is_vtrain_config(const ImportedFile& file);
/// What the file says goes into `job`; the model is what `workload` names, which may be the same
/// file. Its bandwidths belong to a cluster file, its precision stands in the scenario. Errors: a
/// member that is missing or something else, accelerators that are not the product of the groups.
[[nodiscard]] Status read_vtrain_execution(const ImportedFile& file, Job& job);

}  // namespace foretrace
