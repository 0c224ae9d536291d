// Runs a workload on a cluster under a policy.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "apps/scheduling/model/cluster.h"
#include "apps/scheduling/model/throughput.h"
#include "apps/scheduling/model/workload.h"
#include "apps/scheduling/placements/placement.h"
#include "apps/scheduling/policies/scheduler_info.h"
#include "apps/scheduling/simulation/outcome.h"
#include "sim/core/result.h"

namespace foretrace::scheduling {

/// When the policy decides.
enum class Clock : std::uint8_t {
  events,  ///< whenever a job arrives or ends, or the policy asked for it
  ticks,   ///< at multiples of the period; jobs run on in between
  leases   ///< every job stops at the end of a round, the next one begins at the last stop
};

/// A node that is down for a while.
struct Outage {
  NodeId node{};
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Nodes fail at random, each on its own: times between the end of a repair and the next failure
/// are exponentially distributed.
struct Failures {
  std::int64_t mean_between_ns = 0;  ///< 0: no node fails
  std::int64_t repair_ns = 0;
  std::uint64_t seed = 0;
};

struct RunOptions {
  Clock clock = Clock::events;
  std::int64_t period_ns = 0;  ///< of ticks and of leases
  /// No progress for so long after a job got other accelerators than it had.
  std::int64_t restart_ns = 0;
  /// Of leases: the first round costs no restart, and a lease shorter than the period by more than
  /// this costs none either, since it is the end of a job.
  std::int64_t restart_slack_ns = 0;
  bool restarts_in_first_round = true;
  /// A phase runs for a whole multiple of this, the nearest, of two the even one; 0: exactly
  /// as long as its steps take.
  std::int64_t phase_quantum_ns = 0;
  /// Work is lost back to the last multiple of this time on accelerators when a node fails; 0:
  /// none.
  std::int64_t checkpoint_ns = 0;
  std::vector<Outage> outages{};
  Failures failures{};
  /// A job that does not fit when the policy first sees it is dropped.
  bool drops_what_does_not_fit = false;
  bool keeps_log = true;
  /// The run ends once these jobs have ended; empty: all.
  std::vector<JobId> until{};
  /// So many decisions and changes of nodes in which no job comes or ends are an error: jobs that
  /// stop each other before they get anywhere, or a period far too short for them.
  std::int64_t most_idle_steps = 10'000'000;
  /// Of ticks and leases, under a policy that decides anew in each of them: periods of all jobs.
  std::int64_t most_job_rounds = 20'000'000;
  /// True: give up. Asked now and then.
  std::function<bool()> cancelled{};
};

struct RunSetup {
  const Cluster* cluster = nullptr;
  const Workload* workload = nullptr;
  const Throughput* throughput = nullptr;
  Policy* policy = nullptr;
  Placement* placement = nullptr;
};

/// Errors: a job that can run nowhere in the cluster; a policy that never starts a job; jobs that
/// get nowhere; what the policy says.
[[nodiscard]] Result<Outcome> run(const RunSetup& setup, const RunOptions& options);

}  // namespace foretrace::scheduling
