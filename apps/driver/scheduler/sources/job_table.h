// Jobs and rates from tables of users.
#pragma once

#include <string>
#include <string_view>

#include "apps/driver/scheduler/model/cluster.h"
#include "apps/driver/scheduler/model/throughput.h"
#include "apps/driver/scheduler/model/workload.h"
#include "apps/driver/scheduler/sources/cells.h"
#include "sim/core/result.h"

namespace foretrace::scheduling {

/// The type of this name, made if there is none yet.
[[nodiscard]] TypeId type_called(Workload& workload, const JobType& type);

/// The number of the group of this name, made if there is none yet.
[[nodiscard]] std::int32_t group_called(Workload& workload, const std::string& name);

/// Errors name the nearest kind of the cluster.
[[nodiscard]] Result<KindId> kind_called(const Cluster& cluster, std::string_view name);

/// Columns type, or model and batch; kind; gpus; steps_per_s; placement ("42", optional). Rates of
/// two jobs on the same accelerators: type, other_type, kind, gpus, steps_per_s, other_steps_per_s.
/// Kinds that the cluster does not have are passed over.
[[nodiscard]] Status add_rates(const Cells& cells, const Cluster& cluster, Workload& workload,
                               ThroughputTable& throughput);

/// Columns: arrival_s; gpus; and what is to be done: duration_s, on what the job asks for, or
/// steps with type, or model and batch. Optional: name, gpu_share (0 to 1, with one accelerator),
/// kinds
/// ("V100|P100"), cpus, memory_mib, least_gpus and most_gpus, weight, tenant, deadline_s,
/// isolated_s, group and after: a job comes once all of that group, whose first row is above, are
/// over.
[[nodiscard]] Status add_jobs(const Cells& cells, const Cluster& cluster, Workload& workload,
                              ThroughputTable& throughput);

}  // namespace foretrace::scheduling
