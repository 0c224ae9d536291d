#include "models/jobs/schedules/alternation.h"

#include <algorithm>

namespace foretrace::schedules {

std::vector<ScheduleStep> alternating(std::uint32_t micro_batches, std::uint32_t warm,
                                      std::optional<std::uint32_t> lag) {
  warm = std::min(warm, micro_batches);
  std::vector<ScheduleStep> steps;
  steps.reserve(std::size_t{lag ? 3U : 2U} * micro_batches);
  for (std::uint32_t i = 0; i < warm; ++i) steps.push_back({StepKind::forward, i, 0});
  std::uint32_t done = 0;
  for (std::uint32_t i = 0; i < micro_batches; ++i) {
    if (i + warm < micro_batches) steps.push_back({StepKind::forward, i + warm, 0});
    steps.push_back({StepKind::backward, i, 0});
    if (lag && i >= *lag) steps.push_back({StepKind::weights, done++, 0});
  }
  while (lag && done < micro_batches) steps.push_back({StepKind::weights, done++, 0});
  return steps;
}

}  // namespace foretrace::schedules
