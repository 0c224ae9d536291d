// What the top-level keys of a trace say about the run.
#pragma once

#include "trace/events.h"
#include "trace/import_report.h"
#include "trace/readers/detail/document.h"

namespace foretrace::trace::detail {

void fill_trace_info(const TopLevelValues& values, TraceInfo& info, ImportReport& report);

}  // namespace foretrace::trace::detail
