// What a file in trace/formats/ exports: how to recognize a format and how to read it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sim/core/result.h"
#include "trace/io/byte_source.h"
#include "trace/io/probe.h"
#include "trace/table/loaded_trace.h"

namespace foretrace::trace {

/// How sure a reader is that it knows a format, from the first up to 1 MiB of decompressed bytes.
enum class Confidence : std::uint8_t { no, maybe, yes };

struct ReaderInfo {
  std::string_view name;      ///< "kineto_json"
  std::string_view summary;   ///< one line for `list readers`
  std::string_view suffixes;  ///< ".json .json.gz": help text only, detection never uses it
  Confidence (*sniff)(std::string_view prefix);
  Result<LoadedTrace> (*read)(ByteSource& source, const ReadOptions& options);
};

namespace readers {
/// Every reader, sorted by name (generated from the files *_reader.cpp of trace/formats).
[[nodiscard]] std::span<const ReaderInfo* const> all();
}  // namespace readers

/// Opens a file (plain or gzip), finds its format and reads it. Errors name the path and what it
/// looks like.
[[nodiscard]] Result<LoadedTrace> read_trace(const std::string& path, const ReadOptions& options);

/// The same of a file that was opened before.
[[nodiscard]] Result<LoadedTrace> read_probed(Probe file, const ReadOptions& options);
/// The same from a source that is already open.
[[nodiscard]] Result<LoadedTrace> read_source(std::unique_ptr<ByteSource> source,
                                              const ReadOptions& options);

}  // namespace foretrace::trace
