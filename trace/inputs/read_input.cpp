#include "trace/ranks/read_input.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "trace/formats/reader.h"
#include "trace/io/tar.h"
#include "trace/ranks/job_inputs.h"
#include "trace/table/split_ranks.h"

namespace foretrace::trace {
namespace {

/// Compressed members are held in memory while they are read; larger ones must be unpacked.
constexpr std::size_t largest_packed_member = std::size_t{512} << 20U;

/// The member's bytes, unpacked if they are gzip.
Result<LoadedTrace> read_member(TarMember member, const ReadOptions& options) {
  std::string start(2, '\0');
  auto got = member.bytes->read(start);
  if (!got) {
    return std::move(got).error();
  }
  start.resize(*got);
  const std::string path(member.bytes->path());
  const bool packed = start == "\x1F\x8B";
  auto whole = with_prefix(std::move(start), std::move(member.bytes));
  if (!packed) {
    return read_source(std::move(whole), options);
  }
  std::string bytes;
  std::string piece(std::size_t{1} << 20U, '\0');
  while (true) {
    auto more = whole->read(piece);
    if (!more) {
      return std::move(more).error();
    }
    if (*more == 0) {
      break;
    }
    bytes.append(piece, 0, *more);
    if (bytes.size() > largest_packed_member) {
      return Error{ErrorCode::unsupported,
                   fmt::format("{}: more than {} MiB compressed inside an archive, unpack it first",
                               path, largest_packed_member >> 20U)};
    }
  }
  return read_source(open_memory(bytes, path), options);
}

Result<std::vector<FoundTrace>> read_archive(const std::string& path, const ReadOptions& options) {
  auto archive = open_file(path);
  if (!archive) {
    return std::move(archive).error();
  }
  TarReader tar(**archive);
  std::vector<FoundTrace> found;
  std::optional<Error> refusal;  // of the first member that is no trace
  std::size_t refused = 0;
  while (true) {
    auto member = tar.next();
    if (!member) {
      return std::move(member).error();
    }
    if (!*member) {
      break;
    }
    const std::string name((*member)->bytes->path());
    auto trace = read_member(std::move(**member), options);
    if (trace) {
      found.push_back({name, std::move(trace).value()});
      continue;
    }
    if (options.strict) {
      return std::move(trace).error();
    }
    ++refused;
    if (!refusal) {
      refusal = std::move(trace).error();
    }
  }
  if (found.empty()) {
    return refusal
               ? *refusal
               : Error{ErrorCode::bad_format, fmt::format("{}: no trace in this archive", path)};
  }
  std::sort(found.begin(), found.end(),
            [](const FoundTrace& a, const FoundTrace& b) { return a.path < b.path; });
  if (refused > 0) {
    found.front().trace.report.warnings.push_back(fmt::format(
        "{} of the archive {} and {} left out; the first: {}",
        refused == 1 ? std::string("1 other file") : fmt::format("{} other files", refused),
        refused == 1 ? "is no trace" : "are no traces", refused == 1 ? "was" : "were",
        refusal->message.substr(0, refusal->message.find("; supported: "))));
  }
  return found;
}

}  // namespace

Result<std::vector<FoundTrace>> read_input(const std::string& path, const ReadOptions& options) {
  if (is_tar_file(path)) {
    return read_archive(path, options);
  }
  auto trace = read_trace(path, options);
  if (!trace) {
    return std::move(trace).error();
  }
  std::vector<FoundTrace> found;
  if (rank_count(trace->events) < 2) {
    found.push_back({path, std::move(trace).value()});
    return found;
  }
  // Warnings, damage and bytes are those of the file; each process counts its own events.
  std::vector<EventTable> parts = split_ranks(std::move(trace->events));
  for (EventTable& part : parts) {
    const std::string name = fmt::format("{} (rank {})", path, part.info.rank);
    found.push_back({name, {.events = std::move(part), .report = {}}});
  }
  for (std::size_t i = 1; i < found.size(); ++i) {
    const std::uint64_t rows = found[i].trace.events.size();
    found[i].trace.report.events = rows;
    found[i].trace.report.kept = rows;
    trace->report.events -= std::min(trace->report.events, rows);
    trace->report.kept -= std::min(trace->report.kept, rows);
  }
  found.front().trace.report = std::move(trace->report);
  return found;
}

}  // namespace foretrace::trace
