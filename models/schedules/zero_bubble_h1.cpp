// ZB-H1: 1F1B whose backward passes are cut in two. Gradients of weights wait for nobody and fill
// the pauses at the end; no stage holds more than the first one of 1F1B does.
//
//   stage 0  F0 F1       B0 W0 F2 B1 W1 ...     bubble (p - 1)(f + b - w)
//   stage 1     F0 B0 F1 B1 W0 ...              (b: gradients of inputs, w: of weights)
//
// paper: Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024
// assumes: micro-batches take equal times
// ignores: that part of the activations is free after the gradients of inputs
// calibrate: nothing
#include <algorithm>
#include <array>

#include "models/schedules/execution.h"

namespace foretrace::schedules {
extern const ScheduleInfo zero_bubble_h1;
}  // namespace foretrace::schedules

namespace foretrace::schedules::zero_bubble_h1_parts {
namespace {

// 1F1B with `warm` forward passes first; the gradients of weights come `lag` micro-batches behind.
std::vector<ScheduleStep> order(const ScheduleShape& shape, std::uint32_t stage) {
  const std::uint32_t m = shape.micro_batches;
  const std::uint32_t warm = std::min(m, shape.stages - 1 - stage);
  const std::uint32_t lag = stage;
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
  return executed_makespan(zero_bubble_h1, times);
}

bool is_exact(const PipelineTimes& /*times*/) { return true; }

constexpr std::array<std::string_view, 1> assumptions = {
    "activations are held until the gradients of weights are done"};

constexpr ScheduleInfo info = {
    "zero_bubble_h1",
    "1F1B with gradients of weights where a stage would wait, in the memory of 1F1B",
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
}  // namespace foretrace::schedules::zero_bubble_h1_parts

namespace foretrace::schedules {
extern const ScheduleInfo zero_bubble_h1;
constinit const ScheduleInfo zero_bubble_h1 = zero_bubble_h1_parts::info;
}  // namespace foretrace::schedules
