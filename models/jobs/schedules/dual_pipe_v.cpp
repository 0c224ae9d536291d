// DualPipeV: two chunks per stage in the form of a V, half of DualPipe without its second copy of
// the parameters. In the middle a forward pass of one chunk is paired with a backward pass of the
// other.
//
//   stage 0  Fa0 Fa1 Fa0 Fb0 Bb0 Wb0 ... [Fa Bb] [Fb Ba] ...
//
// paper: DeepSeek-AI, DeepSeek-V3 Technical Report, 2024 (github.com/deepseek-ai/DualPipe,
//   DualPipeV); Sea AI Lab, cut-in-half schedule
// assumes: at least twice as many micro-batches as stages
// ignores: that the kernels of a pair run beside the other's communication: a pair takes the sum of
//   both; a framework with overlap of experts hides that communication instead
// calibrate: nothing
#include <array>

#include <fmt/format.h>

#include "models/jobs/schedules/schedule.h"

namespace foretrace::schedules::dual_pipe_v_parts {
namespace {

Status check(const ScheduleShape& shape) {
  if (shape.micro_batches >= 2 * shape.stages) return ok_status();
  return Error{
      ErrorCode::bad_config,
      fmt::format("dual_pipe_v: {} of micro-batches, expected at least twice the {} stages",
                  shape.micro_batches, shape.stages)};
}

// Steps of one stage; gradients of weights wait in a queue where they are put off.
class Pairs {
 public:
  void forward(std::uint32_t chunk) {
    steps_.push_back({StepKind::forward, forward_[chunk]++, chunk});
  }
  void inputs(std::uint32_t chunk) {
    waiting_.push_back({StepKind::weights, backward_[chunk], chunk});
    steps_.push_back({StepKind::backward, backward_[chunk]++, chunk});
  }
  void backward(std::uint32_t chunk) {
    steps_.push_back({StepKind::backward, backward_[chunk], chunk});
    steps_.push_back({StepKind::weights, backward_[chunk]++, chunk});
  }
  void weights() {
    if (first_ < waiting_.size()) steps_.push_back(waiting_[first_++]);
  }
  [[nodiscard]] bool has_waiting() const { return first_ < waiting_.size(); }
  [[nodiscard]] std::vector<ScheduleStep> take() { return std::move(steps_); }

 private:
  std::array<std::uint32_t, 2> forward_{};
  std::array<std::uint32_t, 2> backward_{};
  std::vector<ScheduleStep> waiting_;
  std::size_t first_ = 0;
  std::vector<ScheduleStep> steps_;
};

void begin(const ScheduleShape& shape, std::uint32_t stage, Pairs& pairs) {
  const std::uint32_t behind = shape.stages - 1 - stage;
  for (std::uint32_t i = 0; i < 2 * behind; ++i) pairs.forward(0);
  for (std::uint32_t i = 0; i <= stage; ++i) {
    pairs.forward(0);
    pairs.forward(1);
  }
  for (std::uint32_t i = 0; i < behind; ++i) {
    pairs.inputs(1);
    pairs.weights();
    pairs.forward(1);
  }
}

// From the middle of the last backward passes on gradients of weights are put off.
void end(const ScheduleShape& shape, std::uint32_t stage, Pairs& pairs) {
  const std::uint32_t half = (stage + 1) / 2;
  bool splits = false;
  const auto back = [&](std::uint32_t chunk) {
    splits ? pairs.inputs(chunk) : pairs.backward(chunk);
  };
  for (std::uint32_t i = 0; i <= stage; ++i) {
    if (i == half && stage % 2 == 1) splits = true;
    back(1);
    if (i == half && stage % 2 == 0) splits = true;
    back(0);
  }
  for (std::uint32_t i = 0; i < shape.stages - 1 - stage; ++i) {
    pairs.weights();
    back(0);
  }
  while (pairs.has_waiting()) pairs.weights();
}

std::vector<ScheduleStep> order(const ScheduleShape& shape, std::uint32_t stage) {
  Pairs pairs;
  begin(shape, stage, pairs);
  for (std::uint32_t i = 0; i < shape.micro_batches - 2 * shape.stages + stage + 1; ++i) {
    pairs.forward(0);
    pairs.backward(1);
    pairs.forward(1);
    pairs.backward(0);
  }
  for (std::uint32_t i = 0; i < shape.stages - 1 - stage; ++i) {
    pairs.backward(1);
    pairs.forward(1);
    pairs.backward(0);
  }
  end(shape, stage, pairs);
  return pairs.take();
}

constexpr std::array<std::string_view, 2> assumptions = {
    "there are at least twice as many micro-batches as stages",
    "a pair of a forward and a backward pass takes the sum of both"};

}  // namespace

extern constexpr ScheduleInfo info = {
    .name = "dual_pipe_v",
    .summary =
        "two chunks per stage in the form of a V, forward passes paired with backward passes",
    .paper = "DeepSeek-AI, DeepSeek-V3 Technical Report, 2024; github.com/deepseek-ai/DualPipe",
    .assumptions = assumptions,
    .splits_backward = true,
    .folds = true,
    .least_chunks = 2,
    .most_chunks = 2,
    .check = check,
    .order = order};

}  // namespace foretrace::schedules::dual_pipe_v_parts
