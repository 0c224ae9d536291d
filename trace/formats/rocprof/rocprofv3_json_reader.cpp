// Reader of the JSON output of rocprofv3 (rocprofiler-sdk).
//
//   {"rocprofiler-sdk-tool": [{"metadata": {"pid": 908, ...}, "agents": [...], "strings": {...},
//     "kernel_symbols": [...], "buffer_records": {"kernel_dispatch": [
//       {"kind": 2, "operation": 2,                            names of both stand in "strings"
//        "correlation_id": {"internal": 11, "external": 0},    internal: as the call in "hip_api"
//        "start_timestamp": 5000, "end_timestamp": 7000,       ns of the system's clock
//        "stream_id": {"handle": 3},                           the lane; else the queue is
//        "dispatch_info": {"agent_id": {"handle": 501},        the device, of "agents"
//                          "kernel_id": 8, ...}}, ...],        its name, of "kernel_symbols"
//     "hip_api": [...], ...}}]}
#include <string>
#include <utility>

#include "trace/formats/common/describe_format.h"
#include "trace/formats/common/strict.h"
#include "trace/formats/json/json_walk.h"
#include "trace/formats/reader.h"
#include "trace/formats/rocprof/rocprof_import.h"

namespace foretrace::trace::readers::rocprofv3_json_parts {
namespace {

Confidence sniff(std::string_view prefix) {
  // The key is at the start; the rest of the prefix need not be looked at.
  constexpr std::size_t start = 4096;
  const formats::JsonOutline outline = formats::outline_of(prefix.substr(0, start));
  return outline.is_object && formats::has_key(outline, "rocprofiler-sdk-tool") ? Confidence::yes
                                                                                : Confidence::no;
}

Result<LoadedTrace> read(ByteSource& source, const ReadOptions& options) {
  LoadedTrace trace = formats::started(source, "rocprofv3_json");
  formats::RocprofImport import(trace.events, trace.report);
  formats::JsonWalk walk(source, options,
                         {.enter = formats::RocprofImport::enters,
                          .leave =
                              [&](std::string_view path) {
                                if (path == "rocprofiler-sdk-tool/[]") {
                                  import.end_process();
                                }
                              },
                          .take = [&](std::string_view path, std::string_view value,
                                      std::uint64_t offset) { import.take(path, value, offset); },
                          .damage = [&](std::string_view reason,
                                        std::uint64_t offset) { import.damage(reason, offset); }});
  FORETRACE_TRY(walk.walk());
  trace.report.bytes = walk.bytes();
  if (!source.trouble().empty()) {
    trace.report.warnings.emplace_back(source.trouble());
  }
  import.finish();
  return formats::intact(std::move(trace), source, options, formats::DamageBy::row);
}

}  // namespace

extern constexpr ReaderInfo info = {
    .name = "rocprofv3_json",
    .summary = "JSON of rocprofv3 (--output-format json)",
    .suffixes = ".json .json.gz",
    .sniff = sniff,
    .read = read,
};

}  // namespace foretrace::trace::readers::rocprofv3_json_parts
