#include "models/jobs/schedules/execution.h"

#include <algorithm>

#include <fmt/format.h>

namespace foretrace {
namespace {

constexpr std::size_t kinds = 3;

// Which steps are done, by kind, position and micro-batch.
class Done {
 public:
  explicit Done(const ScheduleShape& shape)
      : micro_batches_(shape.micro_batches),
        done_(kinds * shape.stages * shape.chunks * std::size_t{shape.micro_batches}, 0) {}
  [[nodiscard]] std::size_t at(StepKind kind, std::uint32_t position, std::uint32_t m) const {
    return (position * kinds + static_cast<std::size_t>(kind)) * micro_batches_ + m;
  }
  [[nodiscard]] bool has(StepKind kind, std::uint32_t position, std::uint32_t m) const {
    return done_[at(kind, position, m)] != 0;
  }
  bool add(StepKind kind, std::uint32_t position, std::uint32_t m) {
    char& mark = done_[at(kind, position, m)];
    return mark == 0 ? (mark = 1, true) : false;
  }

 private:
  std::size_t micro_batches_;
  std::vector<char> done_;
};

// What the stages send one way, each of them one after the other.
class Sends {
 public:
  Sends(const ScheduleInfo& schedule, const ScheduleShape& shape,
        const std::vector<std::int64_t>& ns)
      : schedule_(schedule), shape_(shape), ns_(ns), free_(shape.stages, 0) {}
  // What a stage has at `ready_ns`, between positions q and q + 1.
  [[nodiscard]] std::int64_t arrives(std::uint32_t stage, std::uint32_t q, std::int64_t ready_ns) {
    const bool leaves = stage_of(schedule_, shape_, q) != stage_of(schedule_, shape_, q + 1);
    if (!leaves || q >= ns_.size()) return ready_ns;
    return free_[stage] = std::max(free_[stage], ready_ns) + ns_[q];
  }

 private:
  const ScheduleInfo& schedule_;
  const ScheduleShape& shape_;
  const std::vector<std::int64_t>& ns_;
  std::vector<std::int64_t> free_;
};

std::string named(std::uint32_t stage, const ScheduleStep& step) {
  return fmt::format("{} {} of chunk {} on stage {}", to_string(step.kind), step.micro_batch,
                     step.chunk, stage);
}

// What a step needs from elsewhere; false: nothing is missing.
bool missing(const Done& done, const ScheduleShape& shape, const PlacedStep& placed,
             PlacedStep& needed) {
  const std::uint32_t m = placed.step.micro_batch;
  const std::uint32_t q = placed.position;
  needed = placed;
  switch (placed.step.kind) {
    case StepKind::forward:
      if (q == 0 || done.has(StepKind::forward, q - 1, m)) return false;
      needed.position = q - 1;
      return true;
    case StepKind::backward:
      if (!done.has(StepKind::forward, q, m)) {
        needed.step.kind = StepKind::forward;
        return true;
      }
      if (q + 1 == shape.stages * shape.chunks || done.has(StepKind::backward, q + 1, m)) {
        return false;
      }
      needed.position = q + 1;
      return true;
    case StepKind::weights:
      if (done.has(StepKind::backward, q, m)) return false;
      needed.step.kind = StepKind::backward;
      return true;
  }
  return false;
}

Error deadlock(const ScheduleInfo& schedule, const ScheduleShape& shape, const StageOrders& orders,
               const std::vector<std::size_t>& next, const Done& done) {
  // From a stage that is stuck to the stage whose step it waits for, until one comes again.
  std::vector<char> seen(orders.size(), 0);
  std::uint32_t stage = 0;
  while (next[stage] == orders[stage].size()) ++stage;
  std::string text;
  while (seen[stage] == 0) {
    seen[stage] = 1;
    if (next[stage] == orders[stage].size()) break;
    const ScheduleStep& step = orders[stage][next[stage]];
    PlacedStep needed;
    const PlacedStep placed{stage, step, position_of(schedule, shape, stage, step.chunk)};
    if (!missing(done, shape, placed, needed)) break;
    if (!text.empty()) text += ", which ";
    text += fmt::format("waits for {} of micro-batch {} at position {}",
                        to_string(needed.step.kind), needed.step.micro_batch, needed.position);
    if (text.starts_with("waits")) text.insert(0, named(stage, step) + " ");
    stage = stage_of(schedule, shape, needed.position);
  }
  return Error{
      ErrorCode::cyclic_graph,
      fmt::format("{}: deadlock: {}, which stage {} has not reached", schedule.name, text, stage)};
}

}  // namespace

StageOrders orders_of(const ScheduleInfo& schedule, const ScheduleShape& shape) {
  StageOrders orders(shape.stages);
  for (std::uint32_t stage = 0; stage < shape.stages; ++stage) {
    orders[stage] = schedule.order(shape, stage);
  }
  return orders;
}

Result<std::vector<PlacedStep>> sequence_of(const ScheduleInfo& schedule,
                                            const ScheduleShape& shape, const StageOrders& orders) {
  std::size_t all = 0;
  for (const auto& order : orders) all += order.size();
  const std::size_t expected = std::size_t{schedule.splits_backward ? 3U : 2U} * shape.stages *
                               shape.chunks * shape.micro_batches;
  if (all != expected) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: got {} steps, expected {}", schedule.name, all, expected)};
  }
  Done done(shape);
  std::vector<std::size_t> next(orders.size(), 0);
  std::vector<PlacedStep> sequence;
  sequence.reserve(all);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::uint32_t stage = 0; stage < orders.size(); ++stage) {
      while (next[stage] < orders[stage].size()) {
        const ScheduleStep& step = orders[stage][next[stage]];
        const PlacedStep placed{stage, step, position_of(schedule, shape, stage, step.chunk)};
        PlacedStep needed;
        if (missing(done, shape, placed, needed)) break;
        if (!done.add(step.kind, placed.position, step.micro_batch)) {
          return Error{ErrorCode::bad_config,
                       fmt::format("{}: {} appears twice", schedule.name, named(stage, step))};
        }
        sequence.push_back(placed);
        ++next[stage];
        moved = true;
      }
    }
  }
  if (sequence.size() == all) return sequence;
  return deadlock(schedule, shape, orders, next, done);
}

Executed execute(const ScheduleInfo& schedule, const PipelineTimes& times,
                 const std::vector<PlacedStep>& sequence) {
  const ScheduleShape& shape = times.shape;
  const std::uint32_t last = shape.stages * shape.chunks - 1;
  const std::size_t m = shape.micro_batches;
  Sends down(schedule, shape, times.send_forward);
  Sends up(schedule, shape, times.send_backward);
  // When the neighbour has it.
  std::vector<std::int64_t> forward(m * (last + 1), 0);
  std::vector<std::int64_t> backward(m * (last + 1), 0);
  Executed result;
  result.stage_end_ns.assign(shape.stages, 0);
  std::vector<std::int64_t> launched(shape.stages, 0);  // all before the step that comes
  if (times.has_launches()) result.launch_waits_ns.resize(shape.stages);
  for (const PlacedStep& placed : sequence) {
    const std::uint32_t q = placed.position;
    const std::size_t cell = q * m + placed.step.micro_batch;
    std::int64_t& free = result.stage_end_ns[placed.stage];
    const auto run = [&](std::int64_t ns) {
      free += ns;
      if (!times.has_launches()) return;
      const LaunchTime& of = times.launches[static_cast<std::size_t>(placed.step.kind)][q];
      launched[placed.stage] += of.host;
      const std::int64_t end = std::max(free, launched[placed.stage] + of.rest);
      result.launch_waits_ns[placed.stage].push_back(end - free);
      free = end;
    };
    switch (placed.step.kind) {
      case StepKind::forward:
        if (q > 0) free = std::max(free, forward[cell - m]);
        run(times.forward[q]);
        if (q < last) forward[cell] = down.arrives(placed.stage, q, free);
        break;
      case StepKind::backward:
        if (q < last) free = std::max(free, backward[cell + m]);
        run(times.backward[q]);
        if (q > 0) backward[cell] = up.arrives(placed.stage, q - 1, free);
        break;
      case StepKind::weights: run(times.weights[q]); break;
    }
  }
  result.makespan_ns = *std::max_element(result.stage_end_ns.begin(), result.stage_end_ns.end());
  return result;
}

namespace {

// No less than the devices need, behind the launch of the first pass, and than the hosts do.
Executed with_hosts(const ScheduleInfo& schedule, const PipelineTimes& times) {
  Executed result = schedule.formula(times);
  const LaunchTime& first = times.launches.front().front();
  const std::int64_t late =
      std::max<std::int64_t>(0, first.host + first.rest - times.forward.front());
  result.makespan_ns += late;
  for (std::uint32_t stage = 0; stage < times.shape.stages; ++stage) {
    std::int64_t host = 0;
    for (std::uint32_t chunk = 0; chunk < times.shape.chunks; ++chunk) {
      const std::uint32_t position = position_of(schedule, times.shape, stage, chunk);
      for (const std::vector<LaunchTime>& kind : times.launches) {
        host += kind.empty() ? 0 : kind[position].host;
      }
    }
    std::int64_t& end = result.stage_end_ns[stage];
    end = std::max(end + late, host * times.shape.micro_batches);
    result.makespan_ns = std::max(result.makespan_ns, end);
  }
  return result;
}

}  // namespace

Executed finished(const ScheduleInfo& schedule, const PipelineTimes& times, Passes passes) {
  const bool by_formula = passes == Passes::by_formula && schedule.formula != nullptr;
  if (by_formula && !times.has_launches()) return schedule.formula(times);
  // The passes of a single stage are soon run.
  if (by_formula && times.shape.stages > 1) return with_hosts(schedule, times);
  const auto sequence = sequence_of(schedule, times.shape, orders_of(schedule, times.shape));
  FORETRACE_CHECK(sequence.ok());
  return execute(schedule, times, *sequence);
}

}  // namespace foretrace
