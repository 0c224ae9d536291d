#include "tests/validation/studies/tiresias.h"

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/scheduling/components.h"
#include "apps/scheduling/simulation/run.h"
#include "sim/core/whole.h"

namespace foretrace::scheduling::tiresias {
namespace {

constexpr std::string_view end_prefix = "end_s_";

// What the published simulator calls its policies.
struct Alias {
  std::string_view published;
  std::string_view scheduler;
  std::string_view parameters;
};
constexpr std::array aliases = {
    Alias{"fifo", "fifo", ""},
    Alias{"fjf", "fjf", ""},
    Alias{"sjf", "sjf", ""},
    Alias{"shortest", "srtf", ""},
    Alias{"shortest-gpu", "srsf", ""},
    Alias{"dlas", "las", "service=time"},
    Alias{"dlas-gpu", "las", "service=accelerator_time"},
};

std::int64_t ns(double seconds) { return to_whole(seconds * 1e9); }

Result<Workload> workload_of(const TruthTable& table, ThroughputTable& throughput) {
  Workload workload;
  const TypeId seconds = workload.types.push_back({.name = "seconds", .model = "", .batch = 0});
  throughput.set_clock(seconds);
  const Status read = read_rows(table, [&](std::size_t /*row*/, RowNumbers& numbers) {
    Job job;
    job.name = numbers.text("job");
    job.arrival_ns = ns(numbers.number("submit_s", 0, most_seconds));
    job.type = seconds;
    job.request.gpus = static_cast<std::int32_t>(numbers.count("gpus", most_jobs));
    job.phases = {numbers.number("duration_s", 1e-3, most_seconds)};
    workload.jobs.push_back(std::move(job));
  });
  FORETRACE_TRY(read);
  return workload;
}

Result<Cluster> cluster_of(const TruthTable& table) {
  // "8 GPUs, 1 switch, 2 nodes x 4": only the number counts.
  Cluster cluster;
  const KindId kind = cluster.kinds.push_back({.name = "GPU"});
  FORETRACE_TRY(std::int64_t left, first_number_of(table, "cluster", most_jobs));
  while (left > 0) {
    const std::int64_t gpus = std::min<std::int64_t>(left, most_gpus_per_node);
    cluster.nodes.push_back({.kind = kind, .gpus = static_cast<std::int32_t>(gpus)});
    left -= gpus;
  }
  return cluster;
}

}  // namespace

Result<TruthScore> score_tiresias(const TruthTable& table) {
  FORETRACE_TRY(needs(table, {"job", "gpus", "submit_s", "duration_s"}));
  ThroughputTable throughput;
  FORETRACE_TRY(Workload workload, workload_of(table, throughput));
  // Jobs keep their rows: the table is in the order of submission, or sorted stably into it.
  std::vector<std::size_t> row_of(table.size());
  for (std::size_t i = 0; i < row_of.size(); ++i) row_of[i] = i;
  std::stable_sort(row_of.begin(), row_of.end(), [&](std::size_t a, std::size_t b) {
    return workload.jobs[make_id<JobId>(a)].arrival_ns <
           workload.jobs[make_id<JobId>(b)].arrival_ns;
  });
  sort_by_arrival(workload);
  FORETRACE_TRY(const auto cluster, cluster_of(table));
  TruthScore score;
  for (const std::string& column : table.columns) {
    if (!column.starts_with(end_prefix)) continue;
    const auto* const alias = std::find_if(aliases.begin(), aliases.end(), [&](const Alias& one) {
      return one.published == std::string_view(column).substr(end_prefix.size());
    });
    if (alias == aliases.end()) {
      for (std::size_t row = 0; row < table.size(); ++row) {
        score.skipped.push_back({row, column, "unknown policy"});
      }
      continue;
    }
    FORETRACE_TRY(auto policy, make_policy(alias->scheduler, alias->parameters));
    FORETRACE_TRY(auto placement,
                  make_placement("count", "", {.cluster = &cluster, .workload = &workload}));
    FORETRACE_TRY(const auto outcome, run({.cluster = &cluster,
                                           .workload = &workload,
                                           .throughput = &throughput,
                                           .policy = policy.get(),
                                           .placement = placement.get()},
                                          {.keeps_log = false}));
    for (std::size_t i = 0; i < row_of.size(); ++i) {
      const double end_s = static_cast<double>(outcome.jobs[make_id<JobId>(i)].end_ns) / 1e9;
      score.add(table, row_of[i], column, end_s);
    }
  }
  return score;
}

}  // namespace foretrace::scheduling::tiresias
