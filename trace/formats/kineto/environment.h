// What a trace of PyTorch's profiler says of the program and its machine, in words.
#pragma once

#include "trace/formats/chrome/document.h"
#include "trace/table/events.h"

namespace foretrace::trace::formats {

/// Fills TraceInfo::environment: versions of CUDA or HIP, the backend of the job, what was
/// profiled. A table that was converted has it written out under "environment".
void fill_environment(const TopLevelValues& values, TraceInfo& info);

}  // namespace foretrace::trace::formats
