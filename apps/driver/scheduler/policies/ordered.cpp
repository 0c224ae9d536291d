#include "apps/driver/scheduler/policies/ordered.h"

namespace foretrace::scheduling {

void grant_in_order(const std::vector<JobId>& jobs, Offer& offer) {
  for (const JobId job : jobs) offer.grant_request(job);
}

}  // namespace foretrace::scheduling
