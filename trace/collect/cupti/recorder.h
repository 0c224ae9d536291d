// One recording of this process, begun at most once. Nothing here throws, whatever goes wrong.
#pragma once

#include "trace/collect/cupti/library.h"

namespace foretrace::trace::collector {

/// Loads CUPTI, if something is to be recorded; null if not, or if that failed.
const CuptiFunctions* load_recorder() noexcept;

/// Starts the library that goes first, if there is one, and then to record. What cannot be recorded
/// costs one line on stderr, and leaves CUPTI as it was.
void start_recording() noexcept;

}  // namespace foretrace::trace::collector
