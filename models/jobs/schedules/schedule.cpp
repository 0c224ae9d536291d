#include "models/jobs/schedules/schedule.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace {

std::string_view to_string(StepKind kind) {
  switch (kind) {
    case StepKind::forward: return "forward";
    case StepKind::backward: return "backward";
    case StepKind::weights: return "weights";
  }
  return "forward";
}

Result<const ScheduleInfo*> find_schedule(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ScheduleInfo* schedule : schedules::all()) {
    if (schedule->name == name) return schedule;
    names.push_back(schedule->name);
  }
  return Error{ErrorCode::not_found,
               fmt::format("schedule: got {}{}, expected one of {}", in_quotes(name),
                           did_you_mean(name, names), fmt::join(names, ", "))};
}

Status check_shape(const ScheduleInfo& schedule, const ScheduleShape& shape) {
  const auto refuse = [&](std::string_view what, std::uint32_t got, const std::string& expected) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: {} of {}, expected {}", schedule.name, got, what, expected)};
  };
  if (shape.stages == 0) return refuse("stages", 0, "at least 1");
  if (shape.micro_batches == 0) return refuse("micro-batches", 0, "at least 1");
  if (shape.chunks < schedule.least_chunks || shape.chunks > schedule.most_chunks) {
    return refuse("chunks per stage", shape.chunks,
                  schedule.least_chunks == schedule.most_chunks
                      ? fmt::format("{}", schedule.least_chunks)
                      : fmt::format("{} to {}", schedule.least_chunks, schedule.most_chunks));
  }
  constexpr std::uint64_t most_steps = 1U << 26;
  if (std::uint64_t{shape.stages} * shape.micro_batches * shape.chunks > most_steps) {
    return Error{
        ErrorCode::bad_config,
        fmt::format("{}: {} stages x {} micro-batches x {} chunks, expected at most {} in "
                    "all",
                    schedule.name, shape.stages, shape.micro_batches, shape.chunks, most_steps)};
  }
  return schedule.check != nullptr ? schedule.check(shape) : ok_status();
}

std::uint32_t position_of(const ScheduleInfo& schedule, const ScheduleShape& shape,
                          std::uint32_t stage, std::uint32_t chunk) {
  const bool back = schedule.folds && chunk % 2 == 1;
  return chunk * shape.stages + (back ? shape.stages - 1 - stage : stage);
}

std::uint32_t stage_of(const ScheduleInfo& schedule, const ScheduleShape& shape,
                       std::uint32_t position) {
  const std::uint32_t within = position % shape.stages;
  const bool back = schedule.folds && (position / shape.stages) % 2 == 1;
  return back ? shape.stages - 1 - within : within;
}

Executed done_upwards(const PipelineTimes& times, std::int64_t makespan_ns) {
  Executed executed;
  executed.makespan_ns = makespan_ns;
  std::int64_t above = 0;
  for (std::size_t stage = 0; stage < times.shape.stages; ++stage) {
    executed.stage_end_ns.push_back(makespan_ns - above);
    above += times.backward[stage];
    if (stage < times.send_backward.size()) above += times.send_backward[stage];
  }
  return executed;
}

std::uint32_t most_in_flight(std::span<const ScheduleStep> order) {
  std::uint32_t now = 0;
  std::uint32_t most = 0;
  const bool splits = std::any_of(order.begin(), order.end(), [](const ScheduleStep& step) {
    return step.kind == StepKind::weights;
  });
  const StepKind last = splits ? StepKind::weights : StepKind::backward;
  for (const ScheduleStep& step : order) {
    if (step.kind == StepKind::forward) most = std::max(most, ++now);
    if (step.kind == last && now > 0) --now;
  }
  return most;
}

std::uint32_t most_in_flight(const ScheduleInfo& schedule, const ScheduleShape& shape,
                             std::uint32_t stage) {
  if (schedule.in_flight != nullptr) return schedule.in_flight(shape, stage);
  return most_in_flight(schedule.order(shape, stage));
}

}  // namespace foretrace
