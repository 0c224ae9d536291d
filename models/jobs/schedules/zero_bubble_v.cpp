// ZB-V: two chunks per stage in the form of a V, so that the last chunk is where the first one is,
// and backward passes cut in two. With f = b = w a stage works without a pause once it has begun,
// in the memory of 1F1B (2 p chunks, each half of a stage).
//
//   stage 0  Fa0 Fa1 Fa2 Fb0 Bb0 Wb0 ...
//   stage 1      Fa0 Fb0 Fa1 ...
//
// paper: Qi et al., Pipeline Parallelism with Controllable Memory, NeurIPS 2024
// assumes: micro-batches take equal times
// ignores: that a stage may update its weights before the others are done
// calibrate: nothing
#include <array>

#include "models/jobs/schedules/schedule.h"

namespace foretrace::schedules::zero_bubble_v_parts {
namespace {

// Steps of one stage: what comes next of each kind and chunk.
class Steps {
 public:
  explicit Steps(std::uint32_t micro_batches) : micro_batches_(micro_batches) {}
  void forward(std::uint32_t chunk) { add(StepKind::forward, chunk); }
  void backward(std::uint32_t chunk) { add(StepKind::backward, chunk); }
  void weights(std::uint32_t chunk) {
    if (next(StepKind::weights, chunk) < next(StepKind::backward, chunk)) {
      add(StepKind::weights, chunk);
    }
  }
  [[nodiscard]] bool has(StepKind kind, std::uint32_t chunk) const {
    return next(kind, chunk) < micro_batches_;
  }
  [[nodiscard]] std::vector<ScheduleStep> take() { return std::move(steps_); }

 private:
  [[nodiscard]] std::uint32_t next(StepKind kind, std::uint32_t chunk) const {
    return next_[static_cast<std::size_t>(kind)][chunk];
  }
  void add(StepKind kind, std::uint32_t chunk) {
    std::uint32_t& number = next_[static_cast<std::size_t>(kind)][chunk];
    if (number < micro_batches_) steps_.push_back({kind, number++, chunk});
  }

  std::uint32_t micro_batches_;
  std::array<std::array<std::uint32_t, 2>, 3> next_{};
  std::vector<ScheduleStep> steps_;
};

void middle(const ScheduleShape& shape, std::uint32_t stage, Steps& steps) {
  for (std::uint32_t i = 0; i < 2 * (shape.stages - stage) - 1; ++i) steps.forward(0);
  for (std::uint32_t i = 0; i < stage; ++i) {
    steps.forward(1);
    steps.forward(0);
  }
  for (std::uint32_t i = 0; i < shape.stages - stage; ++i) {
    steps.forward(1);
    steps.backward(1);
    steps.weights(1);
  }
  while (steps.has(StepKind::forward, 0) || steps.has(StepKind::forward, 1)) {
    for (const std::uint32_t chunk : {0U, 1U}) {
      steps.forward(chunk);
      steps.backward(chunk);
      steps.weights(chunk);
    }
  }
}

std::vector<ScheduleStep> order(const ScheduleShape& shape, std::uint32_t stage) {
  Steps steps(shape.micro_batches);
  middle(shape, stage, steps);
  for (std::uint32_t i = 0; i < stage; ++i) {
    steps.backward(0);
    steps.backward(1);
  }
  for (std::uint32_t i = 0; i < shape.stages - stage; ++i) {
    steps.backward(0);
    steps.weights(0);
  }
  for (const std::uint32_t chunk : {1U, 0U}) {
    while (steps.has(StepKind::backward, chunk)) {
      steps.backward(chunk);
      steps.weights(chunk);
    }
    while (steps.has(StepKind::weights, chunk)) steps.weights(chunk);
  }
  return steps.take();
}

constexpr std::array<std::string_view, 2> assumptions = {
    "activations are kept until the gradients of weights are done",
    "a step ends when the last stage does"};

}  // namespace

extern constexpr ScheduleInfo info = {
    .name = "zero_bubble_v",
    .summary =
        "two chunks per stage in the form of a V with split backward passes: no pause in the "
        "memory of 1F1B",
    .paper = "Qi et al., Pipeline Parallelism with Controllable Memory, NeurIPS 2024",
    .assumptions = assumptions,
    .splits_backward = true,
    .folds = true,
    .least_chunks = 2,
    .most_chunks = 2,
    .order = order};

}  // namespace foretrace::schedules::zero_bubble_v_parts
