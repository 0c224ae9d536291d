#include "apps/scheduling/model/workload.h"

#include <algorithm>

namespace foretrace::scheduling {

void sort_by_arrival(Workload& workload) {
  const auto jobs = workload.jobs.values();
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job& a, const Job& b) { return a.arrival_ns < b.arrival_ns; });
}

}  // namespace foretrace::scheduling
