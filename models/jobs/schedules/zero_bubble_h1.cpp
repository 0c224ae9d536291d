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
#include <array>

#include "models/jobs/schedules/alternation.h"

namespace foretrace::schedules::zero_bubble_h1_parts {
namespace {

std::vector<ScheduleStep> order(const ScheduleShape& shape, std::uint32_t stage) {
  return alternating(shape.micro_batches, shape.stages - 1 - stage, stage);
}

constexpr std::array<std::string_view, 1> assumptions = {
    "activations are kept until the gradients of weights are done"};

}  // namespace

extern constexpr ScheduleInfo info = {
    .name = "zero_bubble_h1",
    .summary = "1F1B with gradients of weights where a stage would wait, in the memory of 1F1B",
    .paper = "Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024",
    .assumptions = assumptions,
    .splits_backward = true,
    .order = order};

}  // namespace foretrace::schedules::zero_bubble_h1_parts
