// The start and the end of every reader: with --strict, damage is an error.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "sim/core/result.h"
#include "trace/io/byte_source.h"
#include "trace/table/loaded_trace.h"

namespace foretrace::trace::formats {

/// An empty trace in this format, from this source.
[[nodiscard]] LoadedTrace started(const ByteSource& source, std::string_view format);

/// The trace, or with options.strict the first damage as an error. Fills in what every table has.
[[nodiscard]] Result<LoadedTrace> checked(LoadedTrace trace, const ByteSource& source,
                                          const ReadOptions& options);

/// What Document(source, options, trace).read() makes of the source, checked().
template <typename Document>
[[nodiscard]] Result<LoadedTrace> read_by(ByteSource& source, const ReadOptions& options,
                                          std::string_view format) {
  LoadedTrace trace = started(source, format);
  FORETRACE_TRY(Document(source, options, trace).read());
  return checked(std::move(trace), source, options);
}

/// How a format tells where damage is.
enum class DamageBy : std::uint8_t { byte, row };

/// The trace, or with options.strict what was dropped, or where the source broke off, as an error.
/// Other warnings are none.
[[nodiscard]] Result<LoadedTrace> intact(LoadedTrace trace, const ByteSource& source,
                                         const ReadOptions& options, DamageBy by);

}  // namespace foretrace::trace::formats
