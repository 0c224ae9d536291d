#include "apps/scheduling/policies/ordered.h"

namespace foretrace::scheduling {

void grant_in_order(const std::vector<JobId>& jobs, Offer& offer, bool moves) {
  for (const JobId job : jobs) offer.grant_request(job, moves);
}

}  // namespace foretrace::scheduling
