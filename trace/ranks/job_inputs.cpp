#include "trace/ranks/job_inputs.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trace/annotate/collectives/argument_text.h"
#include "trace/formats/common/read_all.h"
#include "trace/formats/reader.h"
#include "trace/io/tar.h"
#include "trace/ranks/manifest.h"

namespace foretrace::trace {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t prefix_bytes = std::size_t{1} << 20;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Where the number of the rank stands in a name; length 0 if it has none.
struct Number {
  std::size_t at = 0;
  std::size_t length = 0;
};

Number number_from(std::string_view name, std::size_t at) {
  std::size_t end = at;
  while (end < name.size() && is_digit(name[end])) {
    ++end;
  }
  return {at, end - at};
}

Number number_after(std::string_view name, std::string_view word) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  for (std::size_t at = lower.find(word); at != std::string::npos; at = lower.find(word, at + 1)) {
    std::size_t digit = at + word.size();
    while (digit < name.size() &&
           (name[digit] == '-' || name[digit] == '_' || name[digit] == '=' || name[digit] == '.')) {
      ++digit;
    }
    const Number number = number_from(name, digit);
    if (number.length > 0) {
      return number;
    }
  }
  return {};
}

/// File name without folder and without the suffixes that name formats.
std::string_view stem_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  constexpr std::array<std::string_view, 4> suffixes = {".gz", ".json", ".trace", ".pt"};
  for (const std::string_view suffix : suffixes) {
    name = name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
  }
  return name;
}

Number number_of(std::string_view stem) {
  for (const std::string_view word : {"rank", "worker"}) {
    const Number number = number_after(stem, word);
    if (number.length > 0) {
      return number;
    }
  }
  std::size_t end = stem.size();
  while (end > 0 && !is_digit(stem[end - 1])) {
    --end;
  }
  std::size_t begin = end;
  while (begin > 0 && is_digit(stem[begin - 1])) {
    --begin;
  }
  return {begin, end - begin};
}

/// Name of the reader that knows the file; empty if none does.
std::string format_of(const std::string& path) {
  auto opened = open_file(path);
  if (!opened) {
    return {};
  }
  std::string prefix(prefix_bytes, '\0');
  const auto got = (*opened)->read(prefix);
  if (!got) {
    return {};
  }
  prefix.resize(*got);
  for (const ReaderInfo* reader : readers::all()) {
    if (reader->sniff(prefix) == Confidence::yes) {
      return std::string(reader->name);
    }
  }
  return {};
}

/// Graphs of operators and memory exports have no times of the device: they lie beside the traces
/// of a job.
bool is_timed(std::string_view format) {
  return format.find("_et") == std::string_view::npos &&
         format.find("chakra") == std::string_view::npos &&
         format.find("memory") == std::string_view::npos && !format.empty();
}

Result<std::vector<std::string>> files_in(const std::string& folder) {
  std::error_code failed;
  std::map<std::string, std::vector<std::string>> by_pattern;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string path = at->path().generic_string();
    const std::string name = at->path().filename().generic_string();
    if (at->is_regular_file(failed) && name.front() != '.') {
      by_pattern[pattern_of_name(path)].push_back(path);
    }
  }
  if (failed) {
    return Error{ErrorCode::io, fmt::format("{}: cannot list: {}", folder, failed.message())};
  }
  std::vector<std::string> jobs;
  for (auto& [pattern, files] : by_pattern) {
    std::sort(files.begin(), files.end());
    if (is_timed(format_of(files.front()))) {
      jobs.push_back(pattern);
    }
  }
  if (jobs.size() == 1) {
    return by_pattern[jobs.front()];
  }
  if (jobs.empty()) {
    return Error{ErrorCode::bad_format,
                 fmt::format("{}: no trace in this folder has times of a device; give archives, "
                             "execution traces and further folders by name",
                             folder)};
  }
  constexpr std::size_t most_named = 6;
  const std::size_t named = std::min(jobs.size(), most_named);
  return Error{
      ErrorCode::bad_usage,
      fmt::format("{}: holds the traces of several jobs ({}{}), name the files of one", folder,
                  fmt::join(jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(named), ", "),
                  named < jobs.size() ? ", ..." : "")};
}

/// The first bytes of a regular file, unpacked; empty if it cannot be read.
std::string start_of(const std::string& path, std::size_t bytes) {
  std::error_code failed;
  if (!fs::is_regular_file(path, failed)) {
    return {};
  }
  auto opened = open_file(path);
  if (!opened) {
    return {};
  }
  std::string prefix(bytes, '\0');
  const auto got = (*opened)->read(prefix);
  prefix.resize(got ? *got : 0);
  return prefix;
}

/// A manifest lists each recording once, and no manifest: lists of lists could go round for ever.
Status check_listed(const std::string& manifest, const std::string& name, const std::string& place,
                    std::set<std::string>& seen) {
  std::error_code failed;
  const fs::path real = fs::weakly_canonical(place, failed);
  if (!seen.insert(failed ? place : real.generic_string()).second) {
    return Error{ErrorCode::bad_format,
                 fmt::format("{}: lists {} twice, expected each recording once", manifest, name)};
  }
  if (is_manifest_file(place)) {
    return Error{
        ErrorCode::bad_format,
        fmt::format("{}: lists {}, which is a list itself, expected a recording", manifest, name)};
  }
  return ok_status();
}

/// The recordings of a manifest, which lie in its folder.
Status add_manifest(const std::string& path, JobFiles& job) {
  constexpr std::uint64_t longest = std::uint64_t{64} << 20U;
  auto opened = open_file(path);
  if (!opened) {
    return std::move(opened).error();
  }
  auto text = detail::read_all(**opened, {}, longest);
  if (!text) {
    return std::move(text).error();
  }
  auto listed = detail::parse_manifest(*text, path);
  if (!listed) {
    return std::move(listed).error();
  }
  const std::size_t before = job.files.size();
  std::set<std::string> seen;
  for (const detail::ManifestFile& file : *listed) {
    const std::string place = (fs::path(path).parent_path() / file.path).generic_string();
    if (Status status = check_listed(path, file.path, place, seen); !status) {
      return status;
    }
    std::error_code failed;
    if (fs::is_regular_file(place, failed)) {
      job.files.push_back({place, file.rank, true});
    } else {
      job.warnings.push_back(
          fmt::format("{}: lists {}, which is not there; the other recordings "
                      "are taken without it",
                      path, file.path));
    }
  }
  if (job.files.size() == before) {
    return Error{ErrorCode::io,
                 fmt::format("{}: lists {} of which none is there, the first is {}", path,
                             listed->size() == 1 ? std::string("1 recording")
                                                 : fmt::format("{} recordings", listed->size()),
                             listed->front().path)};
  }
  return ok_status();
}

}  // namespace

std::optional<std::int32_t> rank_of_name(std::string_view path) {
  const std::string_view stem = stem_of(path);
  const Number number = number_of(stem);
  constexpr std::size_t most_digits = 7;
  if (number.length == 0 || number.length > most_digits) {
    return std::nullopt;
  }
  const auto rank = integer_of(stem.substr(number.at, number.length));
  return rank ? std::optional(static_cast<std::int32_t>(*rank)) : std::nullopt;
}

std::string pattern_of_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  std::string name(slash == std::string_view::npos ? path : path.substr(slash + 1));
  const Number number = number_of(stem_of(path));
  if (number.length > 0) {
    name.replace(number.at, number.length, "#");
    // Behind the rank come time stamps and counters that differ from rank to rank.
    std::string rest;
    for (std::size_t i = number.at + 1; i < name.size(); ++i) {
      if (!is_digit(name[i])) {
        rest += name[i];
      } else if (rest.empty() || rest.back() != '*') {
        rest += '*';
      }
    }
    name = name.substr(0, number.at + 1) + rest;
  }
  return name;
}

Result<JobFiles> list_job_files(std::span<const std::string> inputs) {
  JobFiles job;
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (fs::is_directory(input, ignored)) {
      Result<std::vector<std::string>> found = files_in(input);
      if (!found) {
        return std::move(found).error();
      }
      for (std::string& path : *found) {
        job.files.push_back({std::move(path)});
      }
    } else if (is_manifest_file(input)) {
      if (Status added = add_manifest(input, job); !added) {
        return std::move(added).error();
      }
    } else {
      job.files.push_back({input});
    }
  }
  return job;
}

bool is_tar_file(const std::string& path) {
  constexpr std::size_t header = 512;
  const std::string prefix = start_of(path, header);
  return prefix.size() == header && is_tar(prefix);
}

bool is_manifest_file(const std::string& path) {
  constexpr std::size_t enough = 4096;  // for the first key
  return detail::is_manifest(start_of(path, enough));
}

}  // namespace foretrace::trace
