// What a policy may know when it decides.
#pragma once

#include <cstdint>
#include <span>

#include "apps/scheduling/model/cluster.h"
#include "apps/scheduling/model/ids.h"
#include "apps/scheduling/model/job.h"
#include "apps/scheduling/model/throughput.h"
#include "apps/scheduling/model/workload.h"
#include "sim/core/ids.h"

namespace foretrace::scheduling {

/// The state of a run at a moment; states are up to date to `now_ns`.
struct View {
  std::int64_t now_ns = 0;
  std::int64_t period_ns = 0;  ///< of ticks or leases; 0: decisions follow events
  const Cluster* cluster = nullptr;
  const Workload* workload = nullptr;
  const Throughput* throughput = nullptr;
  const Column<JobId, JobState>* states = nullptr;
  /// Jobs that wait or run, by id: in the order of arrival.
  std::span<const JobId> active = {};
  /// Accelerators per kind on nodes that are up, used or not.
  const Column<KindId, std::int32_t>* capacity = nullptr;

  [[nodiscard]] const Job& job(JobId id) const { return workload->jobs[id]; }
  [[nodiscard]] const JobState& state(JobId id) const { return (*states)[id]; }
  [[nodiscard]] std::size_t kinds() const { return cluster->kinds.size(); }
  /// Accelerators of all kinds on nodes that are up.
  [[nodiscard]] std::int32_t total() const;
  /// Steps per second of a job on `gpus` of a kind; 0: it cannot run there.
  [[nodiscard]] double rate(JobId id, KindId kind, std::int32_t gpus) const;
  [[nodiscard]] double rate(JobId id, KindId kind) const {
    return rate(id, kind, job(id).request.gpus);
  }
  /// The kind where the job runs fastest on `gpus`, or on what it asks for, the first of equal
  /// ones; none if it runs nowhere.
  [[nodiscard]] KindId fastest_kind(JobId id, std::int32_t gpus) const;
  [[nodiscard]] KindId fastest_kind(JobId id) const {
    return fastest_kind(id, job(id).request.gpus);
  }
  /// Run time of what is left on what it asks for, on its fastest kind.
  [[nodiscard]] std::int64_t remaining_ns(JobId id) const;
};

}  // namespace foretrace::scheduling
