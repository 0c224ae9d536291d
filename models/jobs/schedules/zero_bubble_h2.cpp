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
#include <array>

#include "models/jobs/schedules/alternation.h"

namespace foretrace::schedules::zero_bubble_h2_parts {
namespace {

std::vector<ScheduleStep> order(const ScheduleShape& shape, std::uint32_t stage) {
  return alternating(shape.micro_batches, 2 * (shape.stages - 1 - stage), 2 * stage);
}

constexpr std::array<std::string_view, 2> assumptions = {
    "activations are kept until the gradients of weights are done",
    "a step ends when the last stage does"};

}  // namespace

extern constexpr ScheduleInfo info = {
    .name = "zero_bubble_h2",
    .summary =
        "as zero_bubble_h1 with up to 2 p - 1 micro-batches in flight "
        "and no pause once a stage has begun",
    .paper = "Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024",
    .assumptions = assumptions,
    .splits_backward = true,
    .order = order};

}  // namespace foretrace::schedules::zero_bubble_h2_parts
