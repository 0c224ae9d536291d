// What the top-level keys of a trace say about the run.
#pragma once

#include "trace/formats/chrome/document.h"
#include "trace/table/events.h"
#include "trace/table/import_report.h"

namespace foretrace::trace::formats {

void fill_trace_info(const TopLevelValues& values, TraceInfo& info, ImportReport& report);

/// ROCm's events count GPUs behind the CPUs, its list of devices does not: where all listed devices
/// are alike, those that work and are not listed are like them.
void list_renumbered_devices(EventTable& table);

}  // namespace foretrace::trace::formats
