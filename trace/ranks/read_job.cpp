// Reads the traces of a job: files in parallel, archives member by member.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "trace/ranks/job.h"
#include "trace/ranks/job_inputs.h"
#include "trace/ranks/read_input.h"

namespace foretrace::trace {
namespace {

/// Reads every file, up to `readers` at a time; results are in the order of the files.
Result<std::vector<FoundTrace>> read_all(const std::vector<JobFile>& files,
                                         const JobReadOptions& options) {
  std::vector<std::optional<Result<std::vector<FoundTrace>>>> results(files.size());
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex reporting;
  std::size_t done = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size() && !failed; i = next++) {
      results[i] = read_input(files[i].path, {options.strict, {}});
      failed = failed || !results[i]->ok();
      const std::lock_guard lock(reporting);
      ++done;
      if (options.progress) {
        options.progress(done, files.size());
      }
    }
  };
  {
    const auto count = std::min<std::size_t>({files.size(), std::max(1U, options.readers),
                                              std::max(1U, std::thread::hardware_concurrency())});
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < count; ++i) {
      threads.emplace_back(work);
    }
    work();
  }
  std::vector<FoundTrace> found;
  for (auto& result : results) {
    if (result && !result->ok()) {
      return std::move(*result).error();
    }
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (FoundTrace& trace : **results[i]) {
      found.push_back(std::move(trace));
      found.back().is_named_by_rank = !files[i].from_manifest;
      std::int32_t& rank = found.back().trace.events.info.rank;
      rank = files[i].rank >= 0 && results[i]->value().size() == 1 ? files[i].rank : rank;
    }
  }
  return found;
}

/// Graphs of nodes and memory over time have no times of a device to join ranks by.
bool has_times(const FoundTrace& found) { return !found.trace.nodes && !found.trace.memory; }

/// Leaves out what lies beside timed traces and has no times of its own, with a warning for each.
void keep_timed(std::vector<FoundTrace>& found) {
  if (std::none_of(found.begin(), found.end(), has_times)) {
    return;
  }
  std::vector<std::string> warnings;
  for (const FoundTrace& other : found) {
    if (!has_times(other)) {
      warnings.push_back(fmt::format("{}: {} has no times of a device and is left out of the job",
                                     other.path, other.trace.events.info.format));
    }
  }
  found.erase(
      std::remove_if(found.begin(), found.end(), [](const FoundTrace& f) { return !has_times(f); }),
      found.end());
  std::vector<std::string>& all = found.front().trace.report.warnings;
  all.insert(all.end(), warnings.begin(), warnings.end());
}

/// Ranks from the traces if all know theirs; else from the names if they differ; else by order.
std::vector<std::int32_t> ranks_of(const std::vector<FoundTrace>& found) {
  std::vector<std::int32_t> ranks;
  ranks.reserve(found.size());
  for (const FoundTrace& trace : found) {
    ranks.push_back(trace.trace.events.info.rank);
  }
  if (std::all_of(ranks.begin(), ranks.end(), [](std::int32_t rank) { return rank >= 0; })) {
    return ranks;
  }
  std::vector<std::int32_t> named;
  named.reserve(found.size());
  for (const FoundTrace& trace : found) {
    named.push_back(trace.is_named_by_rank ? rank_of_name(trace.path).value_or(-1) : -1);
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

Result<std::vector<RankTrace>> read_job(std::span<const std::string> inputs,
                                        const JobReadOptions& options) {
  Result<JobFiles> listed = list_job_files(inputs);
  if (!listed) {
    return std::move(listed).error();
  }
  Result<std::vector<FoundTrace>> found = read_all(listed->files, options);
  if (!found) {
    return std::move(found).error();
  }
  Result<std::vector<RankTrace>> job = settle_ranks(std::move(found).value());
  if (job) {
    std::vector<std::string>& warnings = job->front().report.warnings;
    warnings.insert(warnings.begin(), listed->warnings.begin(), listed->warnings.end());
  }
  return job;
}

Result<std::vector<RankTrace>> settle_ranks(std::vector<FoundTrace> found) {
  keep_timed(found);
  const std::vector<std::int32_t> ranks = ranks_of(found);
  std::map<std::int32_t, std::size_t> by_rank;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [at, is_new] = by_rank.try_emplace(ranks[i], i);
    if (!is_new) {
      return Error{ErrorCode::bad_usage,
                   fmt::format("{}: is rank {}, as {} is; expected one trace per rank",
                               found[i].path, ranks[i], found[at->second].path)};
    }
  }
  std::vector<RankTrace> job;
  for (const auto& [rank, i] : by_rank) {
    FoundTrace& trace = found[i];
    job.push_back({std::move(trace.path), rank, std::move(trace.trace.events),
                   std::move(trace.trace.report), std::move(trace.trace.nodes),
                   std::move(trace.trace.memory)});
  }
  return job;
}

}  // namespace foretrace::trace
