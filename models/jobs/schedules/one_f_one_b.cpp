// 1F1B (PipeDream-Flush): a stage holds as few micro-batches as it can and alternates.
//
//   stage 0  F0 F1       B0 F2 B1 F3 B2    B3
//   stage 1     F0 B0 F1 B1 F2 B2    F3 B3
//
// paper: Narayanan et al., PipeDream-2BW, ICML 2021; Megatron-LM, SC 2021
// assumes: micro-batches take equal times
// ignores: nothing
// calibrate: nothing
#include <algorithm>
#include <array>

#include "models/jobs/schedules/alternation.h"

namespace foretrace::schedules::one_f_one_b_parts {
namespace {

std::vector<ScheduleStep> order(const ScheduleShape& shape, std::uint32_t stage) {
  return alternating(shape.micro_batches, shape.stages - 1 - stage);
}

std::int64_t at(const std::vector<std::int64_t>& times, std::size_t i) {
  return i < times.size() ? times[i] : 0;
}

std::int64_t gain(std::int64_t detour, std::int64_t stay) {
  return std::max<std::int64_t>(0, detour - stay);
}

// The longest of the paths that come down to a stage, stay there for all micro-batches and go back
// up. Instead of staying, a path may follow a micro-batch on its round trip below: the first one
// while the stage fills up with forward passes, the last one while it empties, and each that
// leaves when the one before is back while it alternates; the last of these may turn sooner. Or a
// path stays with what a stage sends.
// No path is left out where sends take no time and no round trip through a stage is shorter than
// a pass of another.
Executed formula(const PipelineTimes& times) {
  const std::size_t stages = times.shape.stages;
  const std::int64_t m = times.shape.micro_batches;
  const auto both = [&times](std::size_t i) { return times.forward[i] + times.backward[i]; };
  // Round trips of one micro-batch to a stage and back, without the stage.
  std::vector<std::int64_t> above(stages, 0);
  for (std::size_t i = 1; i < stages; ++i) {
    above[i] =
        above[i - 1] + both(i - 1) + at(times.send_forward, i - 1) + at(times.send_backward, i - 1);
  }
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < stages; ++i) {
    const std::int64_t f = times.forward[i];
    const std::int64_t b = times.backward[i];
    const auto below = [&](std::size_t last) {
      return above[last] + both(last) - above[i] - f - b;
    };
    const auto in_flight = static_cast<std::int64_t>(stages - i);
    const std::int64_t others = in_flight - 1;
    std::int64_t trips = 0;
    if (m <= in_flight) {
      trips = gain(below(stages - 1), (m - 1) * std::min(f, b));
    } else {
      const std::int64_t whole = below(stages - 1);
      const std::int64_t rest = (m - 1) % in_flight;
      trips = gain(whole, others * f) + gain(whole, others * b) +
              ((m - 1) / in_flight - 1) * gain(whole, others * (f + b));
      if (rest > 0) {
        trips += gain(below(i + static_cast<std::size_t>(rest) - 1), (rest - 1) * (f + b));
      }
    }
    longest = std::max(longest, above[i] + m * (f + b) + trips);
    // A stage sends one message after the other: the way down, all messages of this boundary
    // instead of one, and the way up.
    const std::int64_t send = std::max(at(times.send_forward, i), at(times.send_backward, i));
    longest = std::max(longest, above[stages - 1] + both(stages - 1) + (m - 1) * send);
  }
  return done_upwards(times, longest);
}

std::uint32_t in_flight(const ScheduleShape& shape, std::uint32_t stage) {
  return std::min(shape.micro_batches, shape.stages - stage);
}

constexpr std::array<std::string_view, 1> assumptions = {
    "a stage keeps the activations of as many micro-batches as there are stages from it to the "
    "last"};

}  // namespace

extern constexpr ScheduleInfo info = {
    .name = "1f1b",
    .summary = "one forward, one backward: as few micro-batches in flight as possible",
    .paper = "Narayanan et al., Memory-Efficient Pipeline-Parallel DNN Training, ICML 2021",
    .assumptions = assumptions,
    .order = order,
    .formula = formula,
    .in_flight = in_flight};

}  // namespace foretrace::schedules::one_f_one_b_parts
