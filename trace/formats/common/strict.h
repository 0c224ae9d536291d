// The end of every reader: with --strict, damage is an error.
#pragma once

#include "sim/core/result.h"
#include "trace/io/byte_source.h"
#include "trace/table/loaded_trace.h"

namespace foretrace::trace::formats {

/// The trace, or with options.strict the first damage as an error. Fills in what every table has.
[[nodiscard]] Result<LoadedTrace> checked(LoadedTrace trace, const ByteSource& source,
                                          const ReadOptions& options);

}  // namespace foretrace::trace::formats
