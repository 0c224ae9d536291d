// The library that foretrace collect puts into a program: the driver calls InitializeInjection when
// the program first uses CUDA, NVTX calls InitializeInjectionNvtx2 at its first range. Nothing that
// goes wrong here may be noticed beyond one line on stderr.
#include "trace/collect/cupti/recorder.h"

#define FORETRACE_EXPORT extern "C" __attribute__((visibility("default")))

/// Called by the driver when it starts.
FORETRACE_EXPORT int InitializeInjection() {  // NOLINT(readability-identifier-naming): CUDA's name
  foretrace::trace::collector::start_recording();
  return 1;
}

/// Called by NVTX at its first use, maybe before the driver starts. 0: ranges go nowhere.
// NOLINTNEXTLINE(readability-identifier-naming): NVTX's name
FORETRACE_EXPORT int InitializeInjectionNvtx2(void* export_table) {
  const auto* const cupti = foretrace::trace::collector::load_recorder();
  return cupti != nullptr && cupti->nvtx_initialize2 != nullptr &&
                 cupti->nvtx_initialize2(export_table) == CUPTI_SUCCESS
             ? 1
             : 0;
}

/// The same for programs built with an older NVTX.
// NOLINTNEXTLINE(readability-identifier-naming): NVTX's name
FORETRACE_EXPORT int InitializeInjectionNvtx(void* export_table) {
  const auto* const cupti = foretrace::trace::collector::load_recorder();
  return cupti != nullptr && cupti->nvtx_initialize != nullptr &&
                 cupti->nvtx_initialize(export_table) == CUPTI_SUCCESS
             ? 1
             : 0;
}
