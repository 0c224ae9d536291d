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

#include "models/schedules/alternation.h"

namespace foretrace::schedules::one_f_one_b_parts {
namespace {

std::vector<ScheduleStep> order(const ScheduleShape& shape, std::uint32_t stage) {
  return alternating(shape.micro_batches, shape.stages - 1 - stage);
}

std::int64_t at(const std::vector<std::int64_t>& times, std::size_t i) {
  return i < times.size() ? times[i] : 0;
}

// The longest of the paths that come down to a stage, stay there for all micro-batches and go back
// up. Below the stage the first micro-batch makes a round trip while the stage fills up with
// forward passes, and the last one while it empties.
Executed formula(const PipelineTimes& times) {
  const std::size_t stages = times.shape.stages;
  const std::int64_t m = times.shape.micro_batches;
  std::int64_t below = 0;
  std::vector<std::int64_t> paths(stages);
  for (std::size_t i = stages; i-- > 0;) {
    const std::int64_t warm = std::min<std::int64_t>(m, static_cast<std::int64_t>(stages - 1 - i));
    const std::int64_t f = times.forward[i];
    const std::int64_t b = times.backward[i];
    // With few micro-batches there is one round trip only.
    const std::int64_t both = std::max<std::int64_t>(0, below - warm * f) +
                              (m > warm ? std::max<std::int64_t>(0, below - warm * b) : 0);
    const std::int64_t once =
        std::max<std::int64_t>(0, below - std::min(m - 1, warm) * std::min(f, b));
    paths[i] = m * (f + b) + (m > warm ? both : once);
    below += f + b + (i > 0 ? at(times.send_forward, i - 1) + at(times.send_backward, i - 1) : 0);
  }
  std::int64_t above = 0;
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < stages; ++i) {
    longest = std::max(longest, above + paths[i]);
    above += times.forward[i] + times.backward[i] + at(times.send_forward, i) +
             at(times.send_backward, i);
  }
  return done_upwards(times, longest);
}

// Equal stages, at least as many micro-batches as stages, and sending that takes no time of its
// own: (m + p - 1) (f + b).
bool is_exact(const PipelineTimes& times) {
  return times.shape.micro_batches >= times.shape.stages && passes_are_equal(times);
}

std::uint32_t in_flight(const ScheduleShape& shape, std::uint32_t stage) {
  return std::min(shape.micro_batches, shape.stages - stage);
}

constexpr std::array<std::string_view, 1> assumptions = {
    "a stage holds as many micro-batches as there are stages from it to the last"};

constexpr ScheduleInfo info = {
    .name = "1f1b",
    .summary = "one forward, one backward: as few micro-batches in flight as possible",
    .paper = "Narayanan et al., Memory-Efficient Pipeline-Parallel DNN Training, ICML 2021",
    .assumptions = assumptions,
    .order = order,
    .formula = formula,
    .is_exact = is_exact,
    .in_flight = in_flight};

}  // namespace
}  // namespace foretrace::schedules::one_f_one_b_parts

namespace foretrace::schedules {
extern const ScheduleInfo one_f_one_b;
constinit const ScheduleInfo one_f_one_b = one_f_one_b_parts::info;
}  // namespace foretrace::schedules
