#include "trace/inputs/list_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/text.h"
#include "trace/formats/reader.h"
#include "trace/inputs/node_files.h"
#include "trace/inputs/rank_names.h"

namespace foretrace::trace {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t prefix_bytes = std::size_t{1} << 20;

/// Name of the reader that knows the file; empty if none does.
std::string format_of(const std::string& path) {
  auto opened = Probe::open(path);
  if (!opened) {
    return {};
  }
  const auto start = opened->start(prefix_bytes);
  if (!start) {
    return {};
  }
  for (const ReaderInfo* reader : readers::all()) {
    if (reader->sniff(*start) == Confidence::yes) return std::string(reader->name);
  }
  return {};
}

/// Graphs of operators and memory exports have no times of the device: they lie beside the traces
/// of a job.
bool is_timed(std::string_view format) {
  return !format.empty() && !contains_any(format, {"_et", "chakra", "memory"});
}

bool is_chakra(std::string_view format) { return format.starts_with("chakra"); }

/// What a folder is searched for.
struct Wanted {
  bool (*is_wanted)(std::string_view format);
  std::string_view without;  ///< what is said of a folder that has none
};
constexpr Wanted timed = {
    is_timed,
    "this folder contains no profiler trace; name archives, execution traces and further folders "
    "(ranks in Chakra's format: the workload of a scenario)"};
constexpr Wanted chakra = {
    is_chakra,
    "this folder contains no Chakra execution trace (chakra_et, chakra_json); those of PyTorch "
    "have no times until they are linked with Kineto's"};

Result<std::vector<std::string>> files_in(const std::string& folder, const Wanted& wanted) {
  std::error_code failed;
  std::map<std::string, std::vector<std::string>> by_pattern;
  std::string dangling;  // the first link that leads nowhere
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string path = at->path().generic_string();
    const std::string name = at->path().filename().generic_string();
    std::error_code ignored;
    if (at->is_regular_file(ignored) && name.front() != '.') {
      by_pattern[pattern_of_name(path)].push_back(path);
    } else if (!fs::exists(at->path(), ignored)) {
      dangling = dangling.empty() ? name : std::min(dangling, name);
    }
  }
  if (failed) {
    return Error{ErrorCode::io, fmt::format("{}: cannot list: {}", folder, failed.message())};
  }
  std::vector<std::string> jobs;
  for (auto& [pattern, files] : by_pattern) {
    std::sort(files.begin(), files.end());
    if (wanted.is_wanted(format_of(files.front()))) {
      jobs.push_back(pattern);
    }
  }
  if (jobs.size() == 1) return by_pattern[jobs.front()];
  if (by_pattern.empty()) {
    return Error{ErrorCode::not_found,
                 fmt::format("{}: no files in this folder{}", folder,
                             dangling.empty() ? std::string()
                                              : "; its link " + dangling + " leads nowhere")};
  }
  if (jobs.empty()) {
    return Error{ErrorCode::bad_format, fmt::format("{}: {}", folder, wanted.without)};
  }
  constexpr std::size_t most_named = 6;
  const std::size_t named = std::min(jobs.size(), most_named);
  return Error{
      ErrorCode::bad_usage,
      fmt::format("{}: contains the traces of several jobs ({}{}); name the files of one", folder,
                  fmt::join(jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(named), ", "),
                  named < jobs.size() ? ", ..." : "")};
}

Result<std::vector<std::string>> list(std::span<const std::string> inputs, const Wanted& wanted) {
  std::vector<std::string> files;
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (!fs::is_directory(input, ignored)) {
      files.push_back(input);
      continue;
    }
    FORETRACE_TRY(std::vector<std::string> found, files_in(input, wanted));
    std::move(found.begin(), found.end(), std::back_inserter(files));
  }
  if (std::count(files.begin(), files.end(), "-") > 1) {
    return Error{ErrorCode::bad_usage, "standard input ('-') is named more than once"};
  }
  return files;
}

}  // namespace

Result<std::vector<std::string>> list_files(std::span<const std::string> inputs) {
  return list(inputs, timed);
}

Result<std::vector<std::string>> list_node_files(std::span<const std::string> inputs) {
  return list(inputs, chakra);
}

}  // namespace foretrace::trace
