// ZB-H2: as ZB-H1 with twice the micro-batches in flight, so that stages wait at the beginning
// only: with f = b = w a stage works without a pause once it has begun.
//
//   stage 0  F0 F1 F2 B0 W0 ...    pauses of a stage (p - 1)(f + b - 2 w) in all
//   stage 1     F0 B0 F1 B1 ...    (b: gradients of inputs, w: of weights)
//
// paper: Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024
// assumes: micro-batches take equal times
// ignores: that a stage may update its weights before the others are done (the paper checks the
//   norm of the gradients afterwards): here a step ends when the last stage does
// calibrate: nothing
#include <algorithm>
#include <array>

#include "models/schedules/execution.h"

namespace foretrace::schedules {
extern const ScheduleInfo zero_bubble_h2;
}  // namespace foretrace::schedules

namespace foretrace::schedules::zero_bubble_h2_parts {
namespace {

// 1F1B with `warm` forward passes first; the gradients of weights come `lag` micro-batches behind.
std::vector<ScheduleStep> order(const ScheduleShape& shape, std::uint32_t stage) {
  const std::uint32_t m = shape.micro_batches;
  const std::uint32_t warm = std::min(m, 2 * (shape.stages - 1 - stage));
  const std::uint32_t lag = 2 * stage;
  std::vector<ScheduleStep> steps;
  steps.reserve(std::size_t{3} * m);
  for (std::uint32_t i = 0; i < warm; ++i) steps.push_back({StepKind::forward, i, 0});
  std::uint32_t done = 0;
  for (std::uint32_t i = 0; i < m; ++i) {
    if (i + warm < m) steps.push_back({StepKind::forward, i + warm, 0});
    steps.push_back({StepKind::backward, i, 0});
    if (i >= lag) steps.push_back({StepKind::weights, done++, 0});
  }
  while (done < m) steps.push_back({StepKind::weights, done++, 0});
  return steps;
}

std::int64_t makespan(const PipelineTimes& times) {
  return executed_makespan(zero_bubble_h2, times);
}

bool is_exact(const PipelineTimes& /*times*/) { return true; }

constexpr std::array<std::string_view, 2> assumptions = {
    "activations are held until the gradients of weights are done",
    "a step ends when the last stage does"};

constexpr ScheduleInfo info = {"zero_bubble_h2",
                               "as zero_bubble_h1 with up to 2 p - 1 micro-batches in flight "
                               "and no pause once a stage has begun",
                               "Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024",
                               assumptions,
                               true,
                               false,
                               1,
                               1,
                               nullptr,
                               order,
                               makespan,
                               is_exact,
                               nullptr};

}  // namespace
}  // namespace foretrace::schedules::zero_bubble_h2_parts

namespace foretrace::schedules {
extern const ScheduleInfo zero_bubble_h2;
constinit const ScheduleInfo zero_bubble_h2 = zero_bubble_h2_parts::info;
}  // namespace foretrace::schedules
