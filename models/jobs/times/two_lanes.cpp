#include "models/jobs/times/two_lanes.h"

#include <algorithm>

namespace foretrace {

void TwoLanes::compute(double ns, double slowed) {
  while (!left_.empty() && ns > 0) {
    const double both = std::min(ns * slowed, left_.front() * slowdown_);
    ns -= both / slowed;
    left_.front() -= both / slowdown_;
    now_ += both;
    overlapped_ += both;
    // What rounding leaves of a collective is none.
    if (left_.front() > 1e-6) break;
    left_.pop_front();
    ++ended_;
  }
  now_ += std::max(ns, 0.0);
}

std::uint32_t TwoLanes::start(double ns) {
  left_.push_back(std::max(ns, 0.0));
  return started_++;
}

double TwoLanes::wait(std::uint32_t number) {
  double waited = 0;
  while (ended_ <= number && !left_.empty()) {
    waited += left_.front();
    left_.pop_front();
    ++ended_;
  }
  now_ += waited;
  return waited;
}

}  // namespace foretrace
