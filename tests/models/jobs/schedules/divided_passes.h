// What the tests of schedules with divided backward passes share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "models/jobs/schedules/execution.h"

namespace foretrace::test {

inline const ScheduleInfo& schedule(std::string_view name) {
  const auto found = find_schedule(name);
  REQUIRE(found.ok());
  return **found;
}

struct Passes {
  std::int64_t forward;
  std::int64_t inputs;
  std::int64_t weights;
};

inline PipelineTimes equal_passes(const ScheduleShape& shape, const Passes& passes) {
  PipelineTimes times;
  times.shape = shape;
  const std::size_t positions = std::size_t{shape.stages} * shape.chunks;
  times.forward.assign(positions, passes.forward);
  times.backward.assign(positions, passes.inputs);
  times.weights.assign(positions, passes.weights);
  return times;
}

inline Executed run(const ScheduleInfo& one, const PipelineTimes& times) {
  const auto sequence = sequence_of(one, times.shape, orders_of(one, times.shape));
  REQUIRE_MESSAGE(sequence.ok(), (sequence.ok() ? "" : sequence.error().message));
  return execute(one, times, *sequence);
}

/// Of a stage, with equal passes.
inline std::int64_t work(const PipelineTimes& times) {
  return std::int64_t{times.shape.micro_batches} * times.shape.chunks *
         (times.forward[0] + times.backward[0] + times.weights[0]);
}

/// Pauses of the stage that has most, from its first step on: stage r begins after r forward
/// passes.
inline std::int64_t longest_pauses(const PipelineTimes& times, const Executed& executed) {
  std::int64_t most = 0;
  for (std::size_t stage = 0; stage < executed.stage_end_ns.size(); ++stage) {
    const std::int64_t begin = static_cast<std::int64_t>(stage) * times.forward[0];
    most = std::max(most, executed.stage_end_ns[stage] - begin - work(times));
  }
  return most;
}

inline const std::vector<ScheduleShape>& divided_shapes() {
  static const std::vector<ScheduleShape> shapes = {{2, 8, 1}, {4, 8, 1}, {4, 12, 1}, {8, 24, 1}};
  return shapes;
}
inline const std::vector<Passes>& divided_passes() {
  static const std::vector<Passes> passes = {{1, 1, 1}, {10, 12, 8}, {10, 10, 6}};
  return passes;
}

}  // namespace foretrace::test
