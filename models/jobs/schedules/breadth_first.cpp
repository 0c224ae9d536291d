// Breadth-first: all micro-batches of a chunk before the next chunk.
//
//   two stages, two chunks each (a, b), two micro-batches:
//   stage 0  Fa0 Fa1 Fb0 Fb1         Bb0 Bb1 Ba0 Ba1
//   stage 1      Fa0 Fa1 Fb0 Fb1 Bb0 Bb1 Ba0 Ba1
//
// paper: Lamy-Poirier, Breadth-First Pipeline Parallelism, MLSys 2023
// assumes: micro-batches take equal times
// ignores: that sharded parameters could be collected, and gradients reduced, once per chunk: they
//   are in every pass, as with other schedules
// calibrate: nothing
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "models/jobs/schedules/schedule.h"

namespace foretrace::schedules::breadth_first_parts {
namespace {

// With fewer micro-batches than stages a chunk would wait for its own first pass.
Status check(const ScheduleShape& shape) {
  if (shape.micro_batches >= shape.stages) return ok_status();
  return Error{ErrorCode::bad_config,
               fmt::format("breadth_first: {} of micro-batches, expected at least the {} stages",
                           shape.micro_batches, shape.stages)};
}

std::vector<ScheduleStep> order(const ScheduleShape& shape, std::uint32_t /*stage*/) {
  std::vector<ScheduleStep> steps;
  steps.reserve(std::size_t{2} * shape.micro_batches * shape.chunks);
  for (std::uint32_t chunk = 0; chunk < shape.chunks; ++chunk) {
    for (std::uint32_t m = 0; m < shape.micro_batches; ++m) {
      steps.push_back({StepKind::forward, m, chunk});
    }
  }
  for (std::uint32_t chunk = shape.chunks; chunk-- > 0;) {
    for (std::uint32_t m = 0; m < shape.micro_batches; ++m) {
      steps.push_back({StepKind::backward, m, chunk});
    }
  }
  return steps;
}

std::uint32_t in_flight(const ScheduleShape& shape, std::uint32_t /*stage*/) {
  return shape.micro_batches * shape.chunks;
}

constexpr std::array<std::string_view, 2> assumptions = {
    "there are at least as many micro-batches as stages",
    "activations of all micro-batches are kept until backward begins"};

}  // namespace

extern constexpr ScheduleInfo info = {
    .name = "breadth_first",
    .summary = "all micro-batches of a chunk, then the next chunk",
    .paper = "Lamy-Poirier, Breadth-First Pipeline Parallelism, MLSys 2023",
    .assumptions = assumptions,
    .keeps_logits = true,
    .most_chunks = 1024,
    .check = check,
    .order = order,
    .in_flight = in_flight};

}  // namespace foretrace::schedules::breadth_first_parts
