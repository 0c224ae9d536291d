#include "apps/session/predicted_energy.h"

#include <algorithm>

namespace foretrace {

Result<std::optional<Energy>> predicted_energy(const Catalogue& catalogue,
                                               const Prediction& prediction,
                                               std::int64_t compute_ns) {
  const bool is_altered =
      std::any_of(prediction.applied.begin(), prediction.applied.end(),
                  [](const Applied& one) { return one.info->alters_device && !one.is_neutral; });
  if (is_altered || !prediction.accelerator) return std::optional<Energy>{};
  return step_energy(catalogue, *prediction.accelerator, prediction.graph,
                     prediction.run.answer.step_ns, compute_ns);
}

}  // namespace foretrace
