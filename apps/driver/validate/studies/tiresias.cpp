#include "apps/driver/validate/studies/tiresias.h"

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/driver/scheduler/components.h"
#include "apps/driver/scheduler/simulation/run.h"
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

Result<Workload> workload_of(const Truth& table, ThroughputTable& throughput) {
  Workload workload;
  const TypeId seconds = workload.types.push_back({.name = "seconds", .model = "", .batch = 0});
  throughput.set_clock(seconds);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto gpus = table.number(row, "gpus");
    const auto submit_s = table.number(row, "submit_s");
    const auto duration_s = table.number(row, "duration_s");
    if (!gpus || !submit_s || !duration_s) {
      return Error{ErrorCode::bad_format,
                   fmt::format("{}: /rows/{}: gpus, submit_s and duration_s must be numbers",
                               table.path(), row)};
    }
    Job job;
    job.name = table.text(row, "job");
    job.arrival_ns = ns(*submit_s);
    job.type = seconds;
    job.request.gpus = static_cast<std::int32_t>(*gpus);
    job.phases = {*duration_s};
    workload.jobs.push_back(std::move(job));
  }
  return workload;
}

Cluster cluster_of(const Truth& table) {
  // "8 GPUs, 1 switch, 2 nodes x 4": only the number counts.
  Cluster cluster;
  const KindId kind = cluster.kinds.push_back({.name = "GPU"});
  std::int64_t left = first_number(table.fixed("cluster")).value_or(0);
  while (left > 0) {
    const std::int64_t gpus = std::min<std::int64_t>(left, most_gpus_per_node);
    cluster.nodes.push_back({.kind = kind, .gpus = static_cast<std::int32_t>(gpus)});
    left -= gpus;
  }
  return cluster;
}

}  // namespace

Result<TruthScore> score_tiresias(const Truth& table) {
  if (const Status fine = table.needs({"job", "gpus", "submit_s", "duration_s"}); !fine) {
    return fine.error();
  }
  ThroughputTable throughput;
  Result<Workload> workload = workload_of(table, throughput);
  if (!workload) return workload.error();
  // Jobs keep their rows: the table is in the order of submission, or sorted stably into it.
  std::vector<std::size_t> row_of(table.rows());
  for (std::size_t i = 0; i < row_of.size(); ++i) row_of[i] = i;
  std::stable_sort(row_of.begin(), row_of.end(), [&](std::size_t a, std::size_t b) {
    return workload->jobs[make_id<JobId>(a)].arrival_ns <
           workload->jobs[make_id<JobId>(b)].arrival_ns;
  });
  sort_by_arrival(*workload);
  const Cluster cluster = cluster_of(table);
  TruthScore score;
  for (const std::string& column : table.columns()) {
    if (!column.starts_with(end_prefix)) continue;
    const auto* const alias = std::find_if(aliases.begin(), aliases.end(), [&](const Alias& one) {
      return one.published == std::string_view(column).substr(end_prefix.size());
    });
    if (alias == aliases.end()) {
      for (std::size_t row = 0; row < table.rows(); ++row) {
        score.skipped.push_back({row, column, "this policy is not known"});
      }
      continue;
    }
    auto policy = make_policy(alias->scheduler, alias->parameters);
    if (!policy) return policy.error();
    auto placement = make_placement("count", "", {.cluster = &cluster, .workload = &*workload});
    if (!placement) return placement.error();
    const auto outcome = run({.cluster = &cluster,
                              .workload = &*workload,
                              .throughput = &throughput,
                              .policy = policy->get(),
                              .placement = placement->get()},
                             {.keeps_log = false});
    if (!outcome) return outcome.error();
    for (std::size_t i = 0; i < row_of.size(); ++i) {
      const double end_s = static_cast<double>(outcome->jobs[make_id<JobId>(i)].end_ns) / 1e9;
      const auto measured = table.number(row_of[i], column);
      if (measured) score.points.push_back({row_of[i], column, end_s, *measured});
    }
  }
  return score;
}

}  // namespace foretrace::scheduling::tiresias
