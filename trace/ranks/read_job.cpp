// Reads the traces of a job: files in parallel, archives member by member.
#include <algorithm>
#include <atomic>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "sim/core/parallel.h"
#include "trace/inputs/list_files.h"
#include "trace/inputs/rank_names.h"
#include "trace/io/out_of_memory.h"
#include "trace/ranks/job.h"

namespace foretrace::trace {
namespace {

using Traces = std::vector<FoundTrace>;
using Content = std::variant<Traces, Listing>;

/// Calls read(i) for every file, several at a time. The first error in their order counts.
template <typename Found>
Result<std::vector<Found>> read_all(
    std::size_t count, const JobReadOptions& options,
    const std::function<Result<Found>(std::size_t, const ReadOptions&)>& read) {
  std::vector<std::optional<Result<Found>>> results(count);
  std::atomic<bool> failed = false;
  std::mutex reporting;
  std::size_t done = 0;
  ReadOptions reading{.strict = options.strict, .progress = {}, .budget = options.budget};
  if (count == 1) {
    reading.progress = options.progress;
  }
  const auto work = [&](std::size_t i) {
    if (failed) return;
    results[i] = read(i, reading);
    failed = failed || !results[i]->ok();
    const std::lock_guard lock(reporting);
    ++done;
    if (options.progress && count > 1) {
      options.progress(done, count);
    }
  };
  for_each_index(count, work, std::max(1U, options.readers));
  std::vector<Found> found;
  found.reserve(results.size());
  for (auto& result : results) {
    if (result && !result->ok()) return std::move(*result).error();
  }
  for (auto& result : results) {
    found.push_back(std::move(*result).value());
  }
  return found;
}

/// What the lists among the inputs name, list by list.
Result<std::vector<Traces>> read_lists(const std::vector<Content>& contents,
                                       const JobReadOptions& options) {
  std::vector<std::pair<const Listing*, const ListedFile*>> files;
  for (const Content& content : contents) {
    if (const auto* const listing = std::get_if<Listing>(&content)) {
      for (const ListedFile& file : listing->files) {
        files.emplace_back(listing, &file);
      }
    }
  }
  return read_all<Traces>(files.size(), options, [&](std::size_t i, const ReadOptions& reading) {
    const Listing& listing = *files[i].first;
    const ListedFile& file = *files[i].second;
    return or_out_of_memory(file.path, [&] { return read_listed(listing, file, reading); });
  });
}

bool has_times(const FoundTrace& found) { return found.trace.is_timed(); }

/// Leaves out what lies beside timed traces and has no times of its own, with a warning for each.
void keep_timed(std::vector<FoundTrace>& found) {
  if (std::none_of(found.begin(), found.end(), has_times)) return;
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

/// Whose rank each trace is, and whether something says so.
struct Ranks {
  std::vector<std::int32_t> ranks;
  std::vector<bool> is_told;
};

/// Ranks from the traces if all know theirs; else from the names if they differ; else by order.
Ranks ranks_of(const std::vector<FoundTrace>& found) {
  std::vector<std::int32_t> ranks;
  std::vector<bool> is_told;
  ranks.reserve(found.size());
  for (const FoundTrace& trace : found) {
    const std::int32_t recorded = trace.trace.events.info.rank;
    ranks.push_back(recorded);
    is_told.push_back(recorded >= 0 || !trace.is_named_by_rank || names_rank(trace.path));
  }
  if (std::all_of(ranks.begin(), ranks.end(), [](std::int32_t rank) { return rank >= 0; })) {
    return {std::move(ranks), std::move(is_told)};
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
  return {std::move(ranks), std::move(is_told)};
}

}  // namespace

Result<std::vector<FoundTrace>> read_inputs(std::span<const std::string> inputs,
                                            const JobReadOptions& options) {
  FORETRACE_TRY(const auto files, list_files(inputs));
  auto contents =
      read_all<Content>(files.size(), options, [&](std::size_t i, const ReadOptions& reading) {
        return or_out_of_memory(files[i], [&] { return open_input(files[i], reading); });
      });
  FORETRACE_TRY(contents);
  FORETRACE_TRY(auto listed, read_lists(*contents, options));
  Traces found;
  std::vector<std::string> warnings;
  auto next = listed.begin();
  const auto add = [&](Traces& traces) {
    std::move(traces.begin(), traces.end(), std::back_inserter(found));
  };
  for (Content& content : *contents) {
    if (auto* const traces = std::get_if<Traces>(&content)) {
      add(*traces);
      continue;
    }
    const Listing& listing = std::get<Listing>(content);
    warnings.insert(warnings.end(), listing.warnings.begin(), listing.warnings.end());
    for (std::size_t i = 0; i < listing.files.size(); ++i) {
      add(*next++);
    }
  }
  std::vector<std::string>& all = found.front().trace.report.warnings;
  all.insert(all.begin(), warnings.begin(), warnings.end());
  return found;
}

Result<std::vector<RankTrace>> read_job(std::span<const std::string> inputs,
                                        const JobReadOptions& options) {
  auto found = read_inputs(inputs, options);
  return found ? settle_ranks(std::move(found).value())
               : Result<std::vector<RankTrace>>(std::move(found).error());
}

Result<std::vector<RankTrace>> settle_ranks(std::vector<FoundTrace> found) {
  keep_timed(found);
  const auto [ranks, is_told] = ranks_of(found);
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
    job.push_back({std::move(trace.path), rank, std::move(trace.trace), is_told[i]});
  }
  return job;
}

}  // namespace foretrace::trace
