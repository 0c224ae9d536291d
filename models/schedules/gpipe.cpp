// GPipe: all forward passes, then all backward passes.
//
//   stage 0  F0 F1 F2 F3          B0 B1 B2 B3
//   stage 1     F0 F1 F2 F3    B0 B1 B2 B3
//
// paper: Huang et al., GPipe, NeurIPS 2019
// assumes: micro-batches take equal times
// ignores: nothing
// calibrate: nothing
#include <algorithm>
#include <array>
#include <numeric>

#include "models/schedules/schedule.h"

namespace foretrace::schedules::gpipe_parts {
namespace {

std::vector<ScheduleStep> order(const ScheduleShape& shape, std::uint32_t /*stage*/) {
  std::vector<ScheduleStep> steps;
  steps.reserve(std::size_t{2} * shape.micro_batches);
  for (std::uint32_t m = 0; m < shape.micro_batches; ++m)
    steps.push_back({StepKind::forward, m, 0});
  for (std::uint32_t m = 0; m < shape.micro_batches; ++m) {
    steps.push_back({StepKind::backward, m, 0});
  }
  return steps;
}

std::int64_t sum(const std::vector<std::int64_t>& times) {
  return std::accumulate(times.begin(), times.end(), std::int64_t{0});
}
std::int64_t longest(const std::vector<std::int64_t>& times) {
  return *std::max_element(times.begin(), times.end());
}

// Equal jobs through machines in a row: the first passes them all, then one leaves per longest
// time. Backward begins on the last stage when forward has ended there.
std::int64_t makespan(const PipelineTimes& times) {
  const std::int64_t others = times.shape.micro_batches - 1;
  return sum(times.forward) + sum(times.send_forward) + others * longest(times.forward) +
         sum(times.backward) + sum(times.send_backward) + others * longest(times.backward);
}

std::uint32_t in_flight(const ScheduleShape& shape, std::uint32_t /*stage*/) {
  return shape.micro_batches;
}

constexpr std::array<std::string_view, 1> assumptions = {
    "activations of all micro-batches are held until backward begins"};

constexpr ScheduleInfo info = {.name = "gpipe",
                               .summary = "all forward passes, then all backward passes",
                               .paper = "Huang et al., GPipe, NeurIPS 2019",
                               .assumptions = assumptions,
                               .order = order,
                               .makespan = makespan,
                               .in_flight = in_flight};

}  // namespace
}  // namespace foretrace::schedules::gpipe_parts

namespace foretrace::schedules {
extern const ScheduleInfo gpipe;
constinit const ScheduleInfo gpipe = gpipe_parts::info;
}  // namespace foretrace::schedules
