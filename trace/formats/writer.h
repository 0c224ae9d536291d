// What a file in trace/formats/ exports: how to write a trace in a format.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/result.h"
#include "trace/formats/reader.h"

namespace foretrace::trace {

/// Takes the next piece of a file; false once it cannot be written.
using ByteSink = std::function<bool(std::string_view)>;

/// What was written, and what the format has no place for.
struct WriteReport {
  std::uint64_t events = 0;           ///< rows and side-table entries written
  std::vector<std::string> left_out;  ///< one line each: "3 descriptions of devices"
};

struct WriterInfo {
  std::string_view name;      ///< "kineto_json"
  std::string_view summary;   ///< one line for `list writers`
  std::string_view suffixes;  ///< ".json .json.gz": the names that choose this writer
  /// Fails with ErrorCode::io where the sink refused; the caller knows why.
  Result<WriteReport> (*write)(const LoadedTrace& trace, const ByteSink& sink);
};

namespace writers {
/// Every writer, sorted by name (generated from the files *_writer.cpp of trace/formats).
[[nodiscard]] std::span<const WriterInfo* const> all();
}  // namespace writers

/// The writer of this name, or, if it is empty, the one whose suffix the path has. Errors name what
/// there is.
[[nodiscard]] Result<const WriterInfo*> choose_writer(std::string_view path,
                                                      std::string_view format);

/// Adds to `left_out` what a writer of events has no place for: graphs of nodes, device memory over
/// time. An error if the trace is nothing else.
[[nodiscard]] Status check_holds_events(const LoadedTrace& trace, WriteReport& report);

/// Writes the trace; compressed where `path` ends in ".gz".
[[nodiscard]] Result<WriteReport> write_trace(const LoadedTrace& trace, const WriterInfo& writer,
                                              std::string_view path, const ByteSink& sink);

}  // namespace foretrace::trace
