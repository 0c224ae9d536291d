// What a recording says about the program and its machine.
#pragma once

#include "trace/collect/record_writer.h"

namespace foretrace::trace::collector {

/// Command, process, rank of the job, versions of driver and CUPTI; no host name and no variables.
[[nodiscard]] Facts facts_of_process(std::uint32_t cupti_version);

}  // namespace foretrace::trace::collector
