// Chooses a writer by name or suffix, and compresses what it writes where the name says so.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/core/params.h"
#include "trace/formats/writer.h"
#include "trace/io/gzip_sink.h"

namespace foretrace::trace {
namespace {

// ".json .json.gz" has ".json": the words are separated by single blanks.
bool has_suffix(std::string_view suffixes, std::string_view path) {
  while (!suffixes.empty()) {
    const std::string_view word = suffixes.substr(0, suffixes.find(' '));
    if (path.size() > word.size() && path.ends_with(word)) return true;
    suffixes.remove_prefix(std::min(suffixes.size(), word.size() + 1));
  }
  return false;
}

}  // namespace

Result<const WriterInfo*> choose_writer(std::string_view path, std::string_view format) {
  std::vector<std::string_view> names;
  std::string known;
  for (const WriterInfo* writer : writers::all()) {
    if (format.empty() ? has_suffix(writer->suffixes, path) : writer->name == format) return writer;
    names.push_back(writer->name);
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", writer->name, writer->suffixes);
  }
  if (!format.empty()) {
    return Error{ErrorCode::not_found, fmt::format("unknown format '{}', expected one of: {}{}",
                                                   format, known, did_you_mean(format, names))};
  }
  return Error{
      ErrorCode::bad_usage,
      fmt::format("{}: the suffix is of no format to write, expected one of: {}", path, known)};
}

Status check_holds_events(const LoadedTrace& trace, WriteReport& report) {
  const char* const what = trace.nodes() != nullptr    ? "a graph of nodes"
                           : trace.memory() != nullptr ? "device memory over time"
                                                       : nullptr;
  if (what == nullptr) return ok_status();
  if (trace.events.size() == 0) {
    return Error{ErrorCode::unsupported,
                 fmt::format("the trace is {} without events, which this format cannot store{}",
                             what, trace.nodes() != nullptr ? "; chakra_et has" : "")};
  }
  report.left_out.emplace_back(what);
  return ok_status();
}

Result<WriteReport> write_trace(const LoadedTrace& trace, const WriterInfo& writer,
                                std::string_view path, const ByteSink& sink) {
  if (!path.ends_with(".gz")) return writer.write(trace, sink);
  GzipSink compressed(sink);
  auto report = writer.write(
      trace, [&compressed](std::string_view bytes) { return compressed.write(bytes); });
  if (report.ok() && !compressed.finish()) {
    return Error{ErrorCode::io, fmt::format("{}: cannot be written", path)};
  }
  return report;
}

}  // namespace foretrace::trace
