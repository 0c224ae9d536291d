#include "apps/questions/validate/folders.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace foretrace {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> trace_suffixes = {".json", ".json.gz", ".ftr", ".ftr.gz"};

bool ends_with_any(std::string_view name, std::span<const std::string_view> suffixes) {
  return suffixes.empty() ||
         std::any_of(suffixes.begin(), suffixes.end(),
                     [name](std::string_view suffix) { return name.ends_with(suffix); });
}

/// Traces in JSON below a folder, relative to it and sorted.
Result<std::vector<std::string>> traces_below(const std::string& folder) {
  std::error_code failed;
  std::vector<std::string> list;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    const std::string name = at->path().lexically_relative(folder).generic_string();
    const bool trace = at->path().filename() != "pairs.json" && ends_with_any(name, trace_suffixes);
    if (at->is_regular_file(failed) && trace) {
      list.push_back(name);
    }
  }
  if (failed) {
    return Error{ErrorCode::io, fmt::format("{}: cannot list: {}", folder, failed.message())};
  }
  std::sort(list.begin(), list.end());
  return list;
}

bool has_device_work(const trace::EventTable& events) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.is_device_event(make_id<EventId>(i))) return true;
  }
  return false;
}

bool has_host_calls(const trace::EventTable& events) {
  return std::find(events.kind.begin(), events.kind.end(), trace::EventKind::runtime) !=
         events.kind.end();
}

/// Graphs come from both.
Status check_content(const trace::EventTable& events) {
  if (!has_device_work(events)) return Error{ErrorCode::unsupported, "no device work"};
  if (!has_host_calls(events)) {
    return Error{ErrorCode::unsupported, "device work without host calls"};
  }
  return ok_status();
}

}  // namespace

Status check_folder(const std::string& folder, std::span<const std::string_view> suffixes) {
  std::error_code failed;
  if (!fs::is_directory(folder, failed)) {
    return Error{
        ErrorCode::not_found,
        fmt::format("{}: {}", folder,
                    fs::exists(folder, failed) ? "a file, expected a folder" : "no such folder")};
  }
  std::size_t dangling = 0;
  std::string link;
  fs::recursive_directory_iterator at(folder, failed);
  for (const fs::recursive_directory_iterator end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().lexically_relative(folder).generic_string();
    if (!ends_with_any(name, suffixes)) continue;
    std::error_code ignored;
    if (at->is_regular_file(ignored)) return ok_status();
    if (!fs::exists(at->path(), ignored) && (dangling++ == 0 || name < link)) link = name;
  }
  std::string message = fmt::format(
      "{}: no {} in or below this folder", folder,
      suffixes.empty() ? std::string("files")
                       : fmt::format("files that end in {}", fmt::join(suffixes, ", ")));
  if (dangling > 0) {
    message +=
        fmt::format("; {} in it lead{} nowhere, such as {}",
                    dangling == 1 ? std::string("a link") : fmt::format("{} links", dangling),
                    dangling == 1 ? "s" : "", link);
  }
  return Error{ErrorCode::not_found, std::move(message)};
}

Status for_each_recording(const CataloguePtr& catalogue, const std::string& folder,
                          const std::function<void(FolderRecording&&)>& visit) {
  FORETRACE_TRY(check_folder(folder, trace_suffixes));
  FORETRACE_TRY(const std::vector<std::string> names, traces_below(folder));
  for (const std::string& name : names) {
    Result<Recording> recording =
        load(fmt::format("{}/{}", folder, name), {.catalogue = catalogue});
    if (recording.ok()) {
      if (Status content = check_content(recording->events); !content.ok()) {
        recording = content.error();
      }
    }
    visit({name, std::move(recording)});
  }
  return ok_status();
}

}  // namespace foretrace
