// All that is submitted: jobs in the order of arrival, what they run, and for whom.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "apps/scheduling/model/batch_plan.h"
#include "apps/scheduling/model/ids.h"
#include "apps/scheduling/model/job.h"
#include "sim/core/ids.h"

namespace foretrace::scheduling {

struct Workload {
  Column<JobId, Job> jobs;  ///< by arrival, equal arrivals as submitted
  Column<TypeId, JobType> types;
  Column<TenantId, std::string> tenants;
  std::vector<BatchPlan> batch_plans;
  std::vector<std::string> groups;  ///< names; jobs wait for groups before their own only
  std::map<std::string, std::int32_t, std::less<>> group_numbers;  ///< by name
};

/// Sorts jobs by arrival; what was submitted first stays first among equals.
void sort_by_arrival(Workload& workload);

}  // namespace foretrace::scheduling
