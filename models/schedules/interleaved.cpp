// Interleaved 1F1B: a stage holds several pieces of the model, so that the bubble shrinks by their
// number and more is sent.
//
//   two stages, two chunks each (a, b):
//   stage 0  Fa0 Fa1 Fb0 Fb1 ... Bb0 ...
//   stage 1      Fa0 Fa1 Fb0 Bb0 Fb1 Bb1 ...
//
// paper: Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters Using
//   Megatron-LM, SC 2021
// assumes: micro-batches take equal times; their number is a multiple of the number of stages
// ignores: nothing
// calibrate: nothing
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "models/schedules/schedule.h"

namespace foretrace::schedules::interleaved_parts {
namespace {

Status check(const ScheduleShape& shape) {
  if (shape.stages < 2) {
    return Error{ErrorCode::bad_config, "interleaved: 1 of stages, expected at least 2"};
  }
  if (shape.micro_batches % shape.stages == 0) return ok_status();
  return Error{ErrorCode::bad_config,
               fmt::format("interleaved: {} of micro-batches, expected a multiple of the {} stages",
                           shape.micro_batches, shape.stages)};
}

// Chunks take turns: `stages` micro-batches of one, then of the next.
ScheduleStep nth(const ScheduleShape& shape, StepKind kind, std::uint32_t n) {
  const std::uint32_t group = shape.stages * shape.chunks;
  const std::uint32_t chunk = n % group / shape.stages;
  return {kind, n / group * shape.stages + n % shape.stages,
          kind == StepKind::forward ? chunk : shape.chunks - 1 - chunk};
}

// Forward passes of a stage before its first backward pass follows one.
std::uint32_t warm_up(const ScheduleShape& shape, std::uint32_t stage) {
  return std::min(shape.micro_batches * shape.chunks,
                  2 * (shape.stages - 1 - stage) + (shape.chunks - 1) * shape.stages);
}

std::vector<ScheduleStep> order(const ScheduleShape& shape, std::uint32_t stage) {
  const std::uint32_t all = shape.micro_batches * shape.chunks;
  const std::uint32_t warm = warm_up(shape, stage);
  std::vector<ScheduleStep> steps;
  steps.reserve(std::size_t{2} * all);
  for (std::uint32_t i = 0; i < warm; ++i) steps.push_back(nth(shape, StepKind::forward, i));
  for (std::uint32_t i = 0; i < all; ++i) {
    if (i + warm < all) steps.push_back(nth(shape, StepKind::forward, i + warm));
    steps.push_back(nth(shape, StepKind::backward, i));
  }
  return steps;
}

std::uint32_t in_flight(const ScheduleShape& shape, std::uint32_t stage) {
  return std::min(shape.micro_batches * shape.chunks, warm_up(shape, stage) + 1);
}

// The slowest stage works without a pause; one chunk of every other stage comes before it and one
// after it, each way. So it is where all passes are equal and sends take no time.
Executed formula(const PipelineTimes& times) {
  const std::size_t stages = times.shape.stages;
  std::int64_t all = 0;
  std::int64_t slowest = 0;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    std::int64_t one = 0;
    for (std::size_t q = stage; q < times.forward.size(); q += stages) {
      one += times.forward[q] + times.backward[q];
    }
    all += one;
    slowest = std::max(slowest, one);
  }
  std::int64_t sends = 0;
  for (std::size_t q = 0; q + 1 < stages; ++q) {
    if (q < times.send_forward.size()) sends += times.send_forward[q];
    if (q < times.send_backward.size()) sends += times.send_backward[q];
  }
  return done_upwards(times, times.shape.micro_batches * slowest +
                                 (all - slowest) / static_cast<std::int64_t>(times.shape.chunks) +
                                 sends);
}

constexpr std::array<std::string_view, 1> assumptions = {
    "the number of micro-batches is a multiple of the number of stages"};

constexpr ScheduleInfo info = {.name = "interleaved",
                               .summary = "1F1B with several pieces of the model per stage",
                               .paper = "Narayanan et al., Megatron-LM, SC 2021",
                               .assumptions = assumptions,
                               .least_chunks = 2,
                               .most_chunks = 1024,
                               .check = check,
                               .order = order,
                               .formula = formula,
                               .in_flight = in_flight};

}  // namespace
}  // namespace foretrace::schedules::interleaved_parts

namespace foretrace::schedules {
extern const ScheduleInfo interleaved;
constinit const ScheduleInfo interleaved = interleaved_parts::info;
}  // namespace foretrace::schedules
