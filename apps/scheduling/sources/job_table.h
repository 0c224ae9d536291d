// Jobs and rates from tables of users.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "apps/scheduling/model/cluster.h"
#include "apps/scheduling/model/throughput.h"
#include "apps/scheduling/model/workload.h"
#include "models/hardware/catalogue/cells.h"
#include "sim/core/result.h"

namespace foretrace::scheduling {

/// The type of this name, made if there is none yet.
[[nodiscard]] TypeId type_called(Workload& workload, const JobType& type);

/// The number of the group of this name, made if there is none yet.
[[nodiscard]] std::int32_t group_called(Workload& workload, const std::string& name);

/// Errors name the nearest kind of the cluster.
[[nodiscard]] Result<KindId> kind_called(const Cluster& cluster, std::string_view name);

/// A rate: type, or model and batch; kind; gpus; steps_per_s; placement ("42", optional). Rates of
/// two jobs on the same accelerators have other_type and other_steps_per_s instead of a placement.
inline constexpr std::array<std::string_view, 9> rate_columns = {
    "type",      "model",      "batch",
    "kind",      "gpus",       "steps_per_s",
    "placement", "other_type", "other_steps_per_s"};

/// From a table of rate_columns. Kinds that the cluster does not have are passed over.
[[nodiscard]] Status add_rates(const Cells& cells, const Cluster& cluster, Workload& workload,
                               ThroughputTable& throughput);

/// A job: arrival_s; gpus; and what is to be done: duration_s, on what the job asks for, or steps
/// with type, or model and batch. Optional: name, gpu_share (0 to 1, with one accelerator), kinds
/// ("V100|P100"), cpus, memory_mib, least_gpus and most_gpus, weight, tenant, deadline_s,
/// isolated_s, group and after: a job comes once all of that group, whose first row is above, are
/// over.
inline constexpr std::array<std::string_view, 20> job_columns = {
    "name",       "arrival_s", "gpus",       "gpu_share",  "cpus",  "memory_mib", "kinds",
    "least_gpus", "most_gpus", "duration_s", "steps",      "type",  "model",      "batch",
    "weight",     "tenant",    "deadline_s", "isolated_s", "group", "after"};

/// From a table of job_columns.
[[nodiscard]] Status add_jobs(const Cells& cells, const Cluster& cluster, Workload& workload,
                              ThroughputTable& throughput);

}  // namespace foretrace::scheduling
