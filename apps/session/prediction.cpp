#include "apps/session/prediction.h"

#include <cmath>

namespace foretrace {

std::vector<Doubt> ChangedRun::doubts() const {
  std::vector<Doubt> all;
  for (const Applied& one : applied) all.insert(all.end(), one.doubts.begin(), one.doubts.end());
  return all;
}

double RangeSide::total() const {
  double squares = 0;
  for (const double part : {recipe, host, communication, change, scatter, model, device, rest}) {
    squares += part * part;
  }
  // The profiler's work has bounds of its own: a doubt of the change does not move them.
  return std::hypot(doubt * std::sqrt(squares), profiler);
}

}  // namespace foretrace
