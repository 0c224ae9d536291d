// What is asked of CUPTI, and how its callbacks name a range.
#pragma once

#include <cupti.h>

#include "trace/collect/cupti/library.h"
#include "trace/collect/settings.h"

namespace foretrace::trace::collector {

/// Work, calls and waits; memory and ranges if they are wanted.
void switch_activities(const CuptiFunctions& cupti, const Settings& settings, bool on);

/// Devices, contexts, streams and names: said once, early, also where recording starts later.
void ask_for_descriptions(const CuptiFunctions& cupti);

/// The name of a range that begins; null for every other call of NVTX.
[[nodiscard]] const char* range_of(CUpti_CallbackId call, const void* parameters);

}  // namespace foretrace::trace::collector
