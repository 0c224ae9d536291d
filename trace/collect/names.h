// Names as the profiler of PyTorch writes them, for records that hold numbers.
#pragma once

#include <string>
#include <string_view>

#include "trace/collect/record.h"

namespace foretrace::trace::collector {

/// "_Z3addPfS_" as "add(float*, float*)"; other texts stay.
[[nodiscard]] std::string demangled(const std::string& name);
/// "cudaLaunchKernel_ptsz_v7000" as "cudaLaunchKernel".
[[nodiscard]] std::string_view call_name(std::string_view name);
/// "Memcpy HtoD (Pageable -> Device)".
[[nodiscard]] std::string copy_name(const CopyRecord& copy);
/// "Memset (Device)".
[[nodiscard]] std::string set_name(const SetRecord& set);
[[nodiscard]] std::string_view kind_name(RecordKind kind);

}  // namespace foretrace::trace::collector
