// Figures of a run: completion times, fairness, use and cost.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "apps/scheduling/model/cluster.h"
#include "apps/scheduling/model/throughput.h"
#include "apps/scheduling/model/workload.h"
#include "apps/scheduling/simulation/outcome.h"
#include "sim/core/distribution.h"

namespace foretrace::scheduling {

/// How full nodes are while they hold a job.
struct NodeUse {
  double mean_used = 0;                  ///< nodes that hold a job, mean over time
  double empty_share = 0;                ///< of all nodes, mean over time
  std::optional<double> cpu_density;     ///< cores held / cores of nodes that hold a job
  std::optional<double> memory_density;  ///< the same of host memory
};

struct Metrics {
  std::size_t jobs = 0;  ///< that ended
  std::size_t dropped = 0;
  std::size_t unfinished = 0;
  double makespan_s = 0;      ///< from the first arrival to the last end
  Distribution completion_s;  ///< end minus the time it came
  double geometric_mean_completion_s = 0;
  Distribution waiting_s;  ///< first start minus the time it came
  Distribution fairness;   ///< completion time over that of the job alone, times how crowded it was
  std::size_t unfair = 0;  ///< jobs above 1.05
  double use = 0;          ///< held time over time that accelerators were up, of all kinds
  std::vector<double> use_of_kind;
  double cost = 0;
  std::int64_t preemptions = 0;
  std::int64_t failures = 0;
  std::size_t missed_deadlines = 0;
  double mean_active_jobs = 0;
  std::optional<NodeUse> nodes;  ///< nothing: the placement only counts accelerators
};

/// Of these jobs; empty: of all. `throughput` tells how long a job takes alone where it does not
/// say.
[[nodiscard]] Metrics metrics_of(const Outcome& outcome, const Cluster& cluster,
                                 const Workload& workload, const Throughput& throughput,
                                 std::span<const JobId> jobs = {});

/// Completion time over isolated time, divided by how many jobs there were per accelerator during
/// its life where there were more than one.
[[nodiscard]] double finish_time_fairness(const JobState& state, const Cluster& cluster,
                                          double isolated_s);

/// Run time of a job alone: what it says, or seconds_alone(); 0: unknown.
[[nodiscard]] double isolated_s(const Cluster& cluster, const Throughput& throughput,
                                const Job& job);

}  // namespace foretrace::scheduling
