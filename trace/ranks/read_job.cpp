// Reads the traces of a job: files in parallel, archives member by member.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "trace/ranks/job.h"
#include "trace/ranks/job_inputs.h"
#include "trace/reader.h"
#include "trace/split_ranks.h"
#include "trace/tar.h"

namespace foretrace::trace {
namespace {

/// A trace whose rank is not settled yet.
struct Found {
  std::string path;
  LoadedTrace trace;
};

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

Result<std::vector<Found>> read_archive(const std::string& path, const ReadOptions& options) {
  auto archive = open_file(path);
  if (!archive) {
    return std::move(archive).error();
  }
  TarReader tar(**archive);
  std::vector<Found> found;
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
  if (refused > 0) {
    found.front().trace.report.warnings.push_back(
        fmt::format("{} other files of the archive are no traces and were left out; the first: {}",
                    refused, refusal->message));
  }
  return found;
}

Result<std::vector<Found>> read_input(const std::string& path, const ReadOptions& options) {
  if (is_tar_file(path)) {
    return read_archive(path, options);
  }
  auto trace = read_trace(path, options);
  if (!trace) {
    return std::move(trace).error();
  }
  // One recording may hold several processes; the report is that of all of them.
  std::vector<EventTable> parts = split_ranks(std::move(trace->events));
  std::vector<Found> found;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    found.push_back(
        {parts.size() == 1 ? path : fmt::format("{} (rank {})", path, i),
         {.events = std::move(parts[i]), .report = i == 0 ? trace->report : ImportReport{}}});
  }
  return found;
}

/// Reads every file, up to `readers` at a time; results are in the order of the files.
Result<std::vector<Found>> read_all(const std::vector<std::string>& files,
                                    const JobReadOptions& options) {
  std::vector<std::optional<Result<std::vector<Found>>>> results(files.size());
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex reporting;
  std::size_t done = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size() && !failed; i = next++) {
      results[i] = read_input(files[i], {options.strict, {}});
      failed = failed || !results[i]->ok();
      const std::lock_guard lock(reporting);
      ++done;
      if (options.progress) {
        options.progress(done, files.size());
      }
    }
  };
  {
    const std::size_t count =
        std::min<std::size_t>({files.size(), std::max(1U, options.readers),
                               std::max(1U, std::thread::hardware_concurrency())});
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < count; ++i) {
      threads.emplace_back(work);
    }
    work();
  }
  std::vector<Found> found;
  for (auto& result : results) {
    if (result && !result->ok()) {
      return std::move(*result).error();
    }
  }
  for (auto& result : results) {
    for (Found& trace : **result) {
      found.push_back(std::move(trace));
    }
  }
  return found;
}

/// Ranks from the traces if all know theirs; else from the names if they differ; else by order.
std::vector<std::int32_t> ranks_of(const std::vector<Found>& found) {
  std::vector<std::int32_t> ranks;
  for (const Found& trace : found) {
    ranks.push_back(trace.trace.events.info.rank);
  }
  if (std::all_of(ranks.begin(), ranks.end(), [](std::int32_t rank) { return rank >= 0; })) {
    return ranks;
  }
  std::vector<std::int32_t> named;
  for (const Found& trace : found) {
    named.push_back(rank_of_name(trace.path).value_or(-1));
  }
  std::vector<std::int32_t> sorted = named;
  std::sort(sorted.begin(), sorted.end());
  const bool distinct =
      sorted.empty() ||
      (sorted.front() >= 0 && std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
  for (std::size_t i = 0; i < named.size(); ++i) {
    ranks[i] = distinct ? named[i] : static_cast<std::int32_t>(i);
  }
  return ranks;
}

}  // namespace

bool is_job(std::span<const std::string> inputs) {
  std::error_code ignored;
  return inputs.size() > 1 ||
         (inputs.size() == 1 &&
          (std::filesystem::is_directory(inputs[0], ignored) || is_tar_file(inputs[0])));
}

Result<std::vector<RankTrace>> read_job(std::span<const std::string> inputs,
                                        const JobReadOptions& options) {
  Result<std::vector<std::string>> files = list_job_files(inputs);
  if (!files) {
    return std::move(files).error();
  }
  Result<std::vector<Found>> found = read_all(*files, options);
  if (!found) {
    return std::move(found).error();
  }
  const std::vector<std::int32_t> ranks = ranks_of(*found);
  std::map<std::int32_t, std::size_t> by_rank;
  for (std::size_t i = 0; i < found->size(); ++i) {
    const auto [at, is_new] = by_rank.try_emplace(ranks[i], i);
    if (!is_new) {
      return Error{ErrorCode::bad_usage,
                   fmt::format("{}: is rank {}, as {} is; expected one trace per rank",
                               (*found)[i].path, ranks[i], (*found)[at->second].path)};
    }
  }
  std::vector<RankTrace> job;
  for (const auto& [rank, i] : by_rank) {
    Found& trace = (*found)[i];
    job.push_back({std::move(trace.path), rank, std::move(trace.trace.events),
                   std::move(trace.trace.report)});
  }
  return job;
}

}  // namespace foretrace::trace
