#include "apps/scheduling/model/job.h"

#include <algorithm>
#include <numeric>

namespace foretrace::scheduling {

bool Request::allows(KindId kind) const {
  return kinds.empty() || std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

double Job::steps() const { return std::accumulate(phases.begin(), phases.end(), 0.0); }

}  // namespace foretrace::scheduling
