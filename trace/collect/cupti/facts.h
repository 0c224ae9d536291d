// What a recording says about the program and its machine.
#pragma once

#include "trace/collect/record_writer.h"

namespace foretrace::trace::collector {

/// Process, rank of the job, versions of driver and CUPTI, and the command line if it is wanted; no
/// host name and no variables.
[[nodiscard]] Facts facts_of_process(std::uint32_t cupti_version, bool with_command);

}  // namespace foretrace::trace::collector
