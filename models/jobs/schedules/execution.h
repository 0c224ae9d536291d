// Runs a schedule: which step comes when, and which steps wait for each other in a circle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/jobs/schedules/schedule.h"
#include "sim/core/result.h"

namespace foretrace {

struct PlacedStep {
  std::uint32_t stage = 0;
  ScheduleStep step;
  std::uint32_t position = 0;  ///< in the model
};

/// Orders of all stages, one list per stage.
using StageOrders = std::vector<std::vector<ScheduleStep>>;
[[nodiscard]] StageOrders orders_of(const ScheduleInfo& schedule, const ScheduleShape& shape);

/// Every step once, after all it waits for. Error: a deadlock, with the steps that wait for each
/// other; a step that is missing or there twice.
[[nodiscard]] Result<std::vector<PlacedStep>> sequence_of(const ScheduleInfo& schedule,
                                                          const ScheduleShape& shape,
                                                          const StageOrders& orders);

/// A step starts when its stage is free and what it needs has arrived, and ends when what the host
/// launches for it has run. A stage sends one thing at a time each way; what the next position needs
/// on the same stage is not sent.
[[nodiscard]] Executed execute(const ScheduleInfo& schedule, const PipelineTimes& times,
                               const std::vector<PlacedStep>& sequence);

/// How it is found out when all micro-batches are done.
enum class Passes : std::uint8_t {
  /// Of the schedule, which may leave something out, as where hosts of several stages are behind;
  /// by steps where it has none.
  by_formula,
  by_steps  ///< each is run, as the simulation does it
};
/// When all micro-batches are done. `times` fit the schedule.
[[nodiscard]] Executed finished(const ScheduleInfo& schedule, const PipelineTimes& times,
                                Passes passes = Passes::by_formula);

}  // namespace foretrace
