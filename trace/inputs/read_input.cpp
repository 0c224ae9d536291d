#include "trace/inputs/read_input.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trace/formats/common/read_all.h"
#include "trace/formats/reader.h"
#include "trace/inputs/manifest.h"
#include "trace/io/archive.h"
#include "trace/io/out_of_memory.h"
#include "trace/table/split_ranks.h"

namespace foretrace::trace {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t enough_for_a_key = 4096;
constexpr std::uint64_t longest_list = std::uint64_t{64} << 20U;

Result<LoadedTrace> read_member(ArchiveMember member, const ReadOptions& options) {
  FORETRACE_TRY(auto bytes, plain(std::move(member.bytes)));
  return read_source(std::move(bytes), options);
}

Result<std::vector<FoundTrace>> read_archive(ByteSource& archive, const ReadOptions& options) {
  ArchiveReader members(archive);
  std::vector<FoundTrace> found;
  std::optional<Error> refusal;  // of the first member that is no trace
  std::size_t refused = 0;
  while (true) {
    FORETRACE_TRY(auto member, members.next());
    if (!member) break;
    const std::string name(member->bytes->path());
    auto trace = read_member(std::move(*member), options);
    if (trace) {
      found.push_back({name, std::move(trace).value()});
      continue;
    }
    if (options.strict) return std::move(trace).error();
    ++refused;
    if (!refusal) {
      refusal = std::move(trace).error();
    }
  }
  if (found.empty()) {
    return refusal ? *refusal
                   : Error{ErrorCode::bad_format,
                           fmt::format("{}: no trace in this archive", archive.path())};
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

/// One trace, or one for each process of the recording.
Result<std::vector<FoundTrace>> read_one(Probe file, const ReadOptions& options) {
  const std::string path(file.path());
  FORETRACE_TRY(auto trace, read_probed(std::move(file), options));
  std::vector<FoundTrace> found;
  if (rank_count(trace.events) < 2) {
    found.push_back({path, std::move(trace)});
    return found;
  }
  // Warnings, damage and bytes are those of the file; each process counts its own events.
  std::vector<EventTable> parts = split_ranks(std::move(trace.events));
  for (EventTable& part : parts) {
    const std::string name = fmt::format("{} (rank {})", path, part.info.rank);
    found.push_back({name, {.events = std::move(part), .report = {}}});
  }
  for (std::size_t i = 1; i < found.size(); ++i) {
    const std::uint64_t rows = found[i].trace.events.size();
    found[i].trace.report.events = rows;
    found[i].trace.report.kept = rows;
    trace.report.events -= std::min(trace.report.events, rows);
    trace.report.kept -= std::min(trace.report.kept, rows);
  }
  found.front().trace.report = std::move(trace.report);
  return found;
}

/// The recordings that a list names, which lie in its folder.
Result<Listing> read_list(Probe file) {
  const std::string path(file.path());
  const std::unique_ptr<ByteSource> source = std::move(file).take();
  FORETRACE_TRY(auto text, formats::read_all(*source, {}, longest_list));
  FORETRACE_TRY(auto listed, parse_manifest(text, path));
  Listing listing{.path = path, .files = {}, .warnings = {}};
  for (const ManifestFile& recording : listed) {
    const std::string place = (fs::path(path).parent_path() / recording.path).generic_string();
    std::error_code failed;
    if (fs::is_regular_file(place, failed)) {
      listing.files.push_back({place, recording.rank});
    } else {
      listing.warnings.push_back(
          fmt::format("{}: lists {}, which is missing; the other recordings are used without it",
                      path, recording.path));
    }
  }
  if (listing.files.empty()) {
    return Error{ErrorCode::io,
                 fmt::format("{}: lists {}, all of them missing, the first is {}", path,
                             listed.size() == 1 ? std::string("1 recording")
                                                : fmt::format("{} recordings", listed.size()),
                             listed.front().path)};
  }
  return listing;
}

using Content = std::variant<std::vector<FoundTrace>, Listing>;

template <typename Part>
Result<Content> as_content(Result<Part> part) {
  return part ? Result<Content>(Content(std::move(part).value()))
              : Result<Content>(std::move(part).error());
}

}  // namespace

Result<Content> open_input(const std::string& path, const ReadOptions& options) {
  FORETRACE_TRY(auto file, Probe::open(path));
  return or_out_of_memory(path, [&]() -> Result<Content> {
    FORETRACE_TRY(auto start, file.start(enough_for_a_key));
    if (is_archive(start)) return as_content(read_archive(*std::move(file).take(), options));
    return is_manifest(start) ? as_content(read_list(std::move(file)))
                              : as_content(read_one(std::move(file), options));
  });
}

bool is_list(const std::string& path) {
  std::error_code failed;
  if (!fs::is_regular_file(path, failed)) return false;
  auto file = Probe::open(path);
  if (!file) return false;
  const auto start = file->start(enough_for_a_key);
  return start && is_manifest(*start);
}

std::optional<Listing> listing_of(const std::string& path) {
  if (!is_list(path)) return std::nullopt;
  auto file = Probe::open(path);
  if (!file) return std::nullopt;
  Result<Listing> listing = read_list(std::move(file).value());
  return listing ? std::optional(std::move(listing).value()) : std::nullopt;
}

Result<std::vector<FoundTrace>> read_listed(const Listing& listing, const ListedFile& file,
                                            const ReadOptions& options) {
  FORETRACE_TRY(auto content, open_input(file.path, options));
  if (std::holds_alternative<Listing>(content)) {
    return Error{ErrorCode::bad_format,
                 fmt::format("{}: lists {}, which is a list itself; expected recordings",
                             listing.path, file.path)};
  }
  std::vector<FoundTrace> found = std::get<0>(std::move(content));
  for (FoundTrace& trace : found) {
    trace.is_named_by_rank = false;  // a number in its name is that of a process
  }
  if (found.size() == 1 && file.rank >= 0) {
    found.front().trace.events.info.rank = file.rank;
  }
  return found;
}

Result<std::vector<FoundTrace>> read_input(const std::string& path, const ReadOptions& options) {
  FORETRACE_TRY(auto content, open_input(path, options));
  if (auto* const traces = std::get_if<std::vector<FoundTrace>>(&content)) {
    return std::move(*traces);
  }
  const Listing& listing = std::get<Listing>(content);
  std::vector<FoundTrace> found;
  for (const ListedFile& file : listing.files) {
    FORETRACE_TRY(auto more, read_listed(listing, file, options));
    std::move(more.begin(), more.end(), std::back_inserter(found));
  }
  std::vector<std::string>& warnings = found.front().trace.report.warnings;
  warnings.insert(warnings.begin(), listing.warnings.begin(), listing.warnings.end());
  return found;
}

}  // namespace foretrace::trace
