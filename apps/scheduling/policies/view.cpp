#include "apps/scheduling/policies/view.h"

#include <numeric>

#include "sim/core/units.h"

namespace foretrace::scheduling {

std::int32_t View::total() const {
  const auto values = capacity->values();
  return std::accumulate(values.begin(), values.end(), std::int32_t{0});
}

double View::rate(JobId id, KindId kind, std::int32_t gpus) const {
  if (!job(id).request.allows(kind)) return 0;
  return throughput->rate(state(id).type, {.kind = kind, .gpus = gpus});
}

KindId View::fastest_kind(JobId id, std::int32_t gpus) const {
  KindId best = none<KindId>;
  double best_rate = 0;
  for (std::size_t i = 0; i < kinds(); ++i) {
    const auto kind = make_id<KindId>(i);
    const double found = rate(id, kind, gpus);
    if (found > best_rate) {
      best = kind;
      best_rate = found;
    }
  }
  return best;
}

std::int64_t View::remaining_ns(JobId id) const {
  const KindId kind = fastest_kind(id);
  if (kind == none<KindId>) return never_ns;
  return duration_from_seconds(state(id).left / rate(id, kind)).count();
}

}  // namespace foretrace::scheduling
