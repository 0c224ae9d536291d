#include "apps/scheduling/simulation/metrics.h"

#include <algorithm>
#include <cmath>

#include "sim/core/units.h"

namespace foretrace::scheduling {
namespace {

void add_use(const Outcome& outcome, Metrics& metrics) {
  double held_s = 0;
  double up_s = 0;
  for (std::size_t i = 0; i < outcome.held_s.size(); ++i) {
    const auto kind = make_id<KindId>(i);
    const double up = outcome.up_s[kind];
    metrics.use_of_kind.push_back(up > 0 ? outcome.held_s[kind] / up : 0);
    held_s += outcome.held_s[kind];
    up_s += up;
  }
  metrics.use = up_s > 0 ? held_s / up_s : 0;
}

std::optional<NodeUse> node_use(const Outcome& outcome, const Cluster& cluster) {
  const double span_s = seconds(outcome.end_ns - outcome.begin_ns);
  const auto nodes = static_cast<double>(cluster.nodes.size());
  if (!outcome.nodes.is_known || span_s <= 0 || nodes <= 0) return std::nullopt;
  const NodeTimes& times = outcome.nodes;
  NodeUse use;
  use.mean_used = times.used_s / span_s;
  use.empty_share = std::max(0.0, 1 - use.mean_used / nodes);
  if (times.cpu_s > 0) use.cpu_density = times.held_cpu_s / times.cpu_s;
  if (times.memory_mib_s > 0) use.memory_density = times.held_memory_mib_s / times.memory_mib_s;
  return use;
}

}  // namespace

double isolated_s(const Cluster& cluster, const Throughput& throughput, const Job& job) {
  if (job.isolated_ns > 0) return seconds(job.isolated_ns);
  const double alone_s = seconds_alone(cluster, throughput, job);
  return alone_s > 0 ? std::max(1e-9, alone_s) : 0;  // as in a run: at least a ns
}

double finish_time_fairness(const JobState& state, const Cluster& cluster, double isolated) {
  const double crowd = state.mean_active_jobs / std::max(1, cluster.gpus());
  const double completion_s = seconds(state.end_ns - state.came_ns);
  return isolated > 0 ? completion_s / (isolated * std::max(1.0, crowd)) : 0;
}

Metrics metrics_of(const Outcome& outcome, const Cluster& cluster, const Workload& workload,
                   const Throughput& throughput, std::span<const JobId> jobs) {
  std::vector<JobId> all(jobs.begin(), jobs.end());
  for (std::size_t i = 0; jobs.empty() && i < outcome.jobs.size(); ++i) {
    all.push_back(make_id<JobId>(i));
  }
  Metrics metrics;
  std::vector<double> completion;
  std::vector<double> waiting;
  std::vector<double> fairness;
  double logarithms = 0;
  for (const JobId id : all) {
    const JobState& state = outcome.jobs[id];
    const Job& job = workload.jobs[id];
    metrics.preemptions += state.preemptions;
    metrics.failures += state.failures;
    metrics.cost += state.cost;
    if (state.status == JobStatus::dropped) ++metrics.dropped;
    if (state.status != JobStatus::done) {
      metrics.unfinished += state.status == JobStatus::dropped ? 0 : 1;
      continue;
    }
    completion.push_back(seconds(state.end_ns - state.came_ns));
    logarithms += std::log(std::max(1e-9, completion.back()));
    waiting.push_back(seconds(state.first_start_ns - state.came_ns));
    if (job.deadline_ns != never_ns && state.end_ns > job.deadline_ns) ++metrics.missed_deadlines;
    const double alone = isolated_s(cluster, throughput, job);
    if (alone <= 0) continue;
    fairness.push_back(finish_time_fairness(state, cluster, alone));
    if (fairness.back() > 1.05) ++metrics.unfair;
  }
  metrics.jobs = completion.size();
  metrics.makespan_s = seconds(outcome.end_ns - outcome.begin_ns);
  metrics.mean_active_jobs = outcome.mean_active_jobs;
  if (!completion.empty()) {
    metrics.geometric_mean_completion_s =
        std::exp(logarithms / static_cast<double>(completion.size()));
  }
  metrics.completion_s = distribution_of(std::move(completion));
  metrics.waiting_s = distribution_of(std::move(waiting));
  metrics.fairness = distribution_of(std::move(fairness));
  add_use(outcome, metrics);
  metrics.nodes = node_use(outcome, cluster);
  return metrics;
}

}  // namespace foretrace::scheduling
