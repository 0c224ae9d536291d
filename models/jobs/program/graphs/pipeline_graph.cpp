#include "models/jobs/program/graphs/pipeline_graph.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "models/jobs/program/graphs/step_tasks.h"

namespace foretrace {
namespace {

// Durations of a job in one list: per position forward, backward, weights, what the host does for
// each and what the device does behind that, two sends; per stage gradients, update and parameters;
// and 0.
enum PositionSlot : std::uint32_t {
  passes,  // by StepKind
  launches = passes + 3,
  rests = launches + 3,
  send_forward = rests + 3,
  send_backward,
  position_slots
};
enum StageSlot : std::uint32_t { gradients, update, parameters, stage_slots };

std::uint32_t position_slot(std::uint32_t position, std::uint32_t what) {
  return position * position_slots + what;
}
std::uint32_t stage_slot(const ScheduleShape& shape, std::uint32_t stage, std::uint32_t what) {
  return shape.stages * shape.chunks * position_slots + stage * stage_slots + what;
}
std::uint32_t zero_slot(const ScheduleShape& shape) {
  return shape.stages * (shape.chunks * position_slots + stage_slots);
}

class Builder {
 public:
  Builder(const ScheduleInfo& schedule, const ScheduleShape& shape, bool sends_beside,
          bool has_hosts)
      : schedule_(schedule), shape_(shape), sends_beside_(sends_beside), has_hosts_(has_hosts) {}

  void lanes(std::span<const std::uint32_t> ranks);
  void step(const PlacedStep& placed);
  void end();
  [[nodiscard]] Result<PipelineTopology> build() &&;

 private:
  [[nodiscard]] TaskId add(LaneId lane, WorkId work, Phase phase, std::uint32_t slot);
  [[nodiscard]] TaskId all_launched(std::uint32_t stage, TaskId pass, Phase phase,
                                    std::uint32_t host_slot, std::uint32_t rest_slot);
  [[nodiscard]] TaskId sent(TaskId from, std::uint32_t position, bool is_forward);
  [[nodiscard]] std::size_t cell(std::uint32_t position, std::uint32_t micro_batch) const {
    return std::size_t{position} * shape_.micro_batches + micro_batch;
  }

  const ScheduleInfo& schedule_;
  ScheduleShape shape_;
  bool sends_beside_;
  bool has_hosts_;
  StepTasks tasks_;
  std::vector<std::uint32_t> slot_;
  std::vector<LaneId> compute_;
  std::vector<HostLanes> hosts_;
  std::vector<LaneId> forward_sends_;
  std::vector<LaneId> backward_sends_;
  std::vector<WorkId> forward_works_;
  std::vector<WorkId> backward_works_;
  std::vector<WorkId> weight_works_;
  WorkId send_forward_work_{};
  WorkId send_backward_work_{};
  std::vector<TaskId> forward_out_;  ///< per cell: what the next position waits for
  std::vector<TaskId> backward_out_;
  std::vector<TaskId> last_;  ///< per stage
};

void Builder::lanes(std::span<const std::uint32_t> ranks) {
  std::uint32_t first = 0;
  for (std::uint32_t stage = 0; stage < shape_.stages; ++stage) {
    const auto rank = static_cast<std::int32_t>(stage);
    const auto lane = [&](LaneKind kind, std::int64_t number, std::string_view name) {
      return tasks_.lane(kind, number, rank, name);
    };
    compute_.push_back(lane(LaneKind::stream, 0, "computation"));
    if (has_hosts_) hosts_.push_back(tasks_.hosts(rank));
    if (sends_beside_) {
      forward_sends_.push_back(lane(LaneKind::channel, 1, "activations to the next stage"));
      backward_sends_.push_back(lane(LaneKind::channel, 2, "gradients to the stage before"));
    }
    const std::uint32_t multiplicity = ranks.empty() ? 1 : ranks[stage];
    tasks_.builder.add_rank_class({static_cast<std::int32_t>(first), multiplicity});
    first += multiplicity;
  }
  for (std::uint32_t chunk = 0; chunk < shape_.chunks; ++chunk) {
    const std::string suffix = shape_.chunks > 1 ? fmt::format(", chunk {}", chunk) : "";
    forward_works_.push_back(
        tasks_.work("forward" + suffix, TaskKind::kernel, CollectiveKind::none));
    backward_works_.push_back(
        tasks_.work("backward" + suffix, TaskKind::kernel, CollectiveKind::none));
    weight_works_.push_back(
        tasks_.work("gradients of weights" + suffix, TaskKind::kernel, CollectiveKind::none));
  }
  send_forward_work_ = tasks_.work("send activations", TaskKind::transfer, CollectiveKind::send);
  send_backward_work_ = tasks_.work("send gradients", TaskKind::transfer, CollectiveKind::send);
  const std::size_t cells = std::size_t{shape_.stages} * shape_.chunks * shape_.micro_batches;
  forward_out_.assign(cells, none<TaskId>);
  backward_out_.assign(cells, none<TaskId>);
  last_.assign(shape_.stages, none<TaskId>);
}

TaskId Builder::add(LaneId lane, WorkId work, Phase phase, std::uint32_t slot) {
  slot_.push_back(slot);
  return tasks_.add(lane, work, phase, 0);
}

// Nothing else where hosts are never behind.
TaskId Builder::all_launched(std::uint32_t stage, TaskId pass, Phase phase, std::uint32_t host_slot,
                             std::uint32_t rest_slot) {
  if (!has_hosts_) return pass;
  const TaskId all = tasks_.all_launched(hosts_[stage], compute_[stage], phase, {});
  slot_.insert(slot_.end(), {host_slot, rest_slot, zero_slot(shape_)});
  return all;
}

TaskId Builder::sent(TaskId from, std::uint32_t position, bool is_forward) {
  if (!sends_beside_) return from;
  const std::uint32_t stage = stage_of(schedule_, shape_, position);
  const std::uint32_t to = is_forward ? position + 1 : position - 1;
  // Neighbouring chunks of a folded schedule lie on one stage.
  if (stage_of(schedule_, shape_, to) == stage) return from;
  const TaskId task =
      add(is_forward ? forward_sends_[stage] : backward_sends_[stage],
          is_forward ? send_forward_work_ : send_backward_work_, Phase::communication,
          position_slot(is_forward ? position : to, is_forward ? send_forward : send_backward));
  tasks_.after(task, from, DependencyKind::data);
  return task;
}

void Builder::step(const PlacedStep& placed) {
  const std::uint32_t q = placed.position;
  const std::uint32_t m = placed.step.micro_batch;
  const std::uint32_t last = shape_.stages * shape_.chunks - 1;
  const LaneId lane = compute_[placed.stage];
  const std::uint32_t chunk = placed.step.chunk;
  const auto kind = static_cast<std::uint32_t>(placed.step.kind);
  const Phase phase = placed.step.kind == StepKind::forward ? Phase::forward : Phase::backward;
  const auto run = [&](WorkId work, TaskId needed) {
    const TaskId task = add(lane, work, phase, position_slot(q, passes + kind));
    tasks_.after(task, needed, DependencyKind::data);
    return all_launched(placed.stage, task, phase, position_slot(q, launches + kind),
                        position_slot(q, rests + kind));
  };
  TaskId task{};
  switch (placed.step.kind) {
    case StepKind::forward:
      task = run(forward_works_[chunk], q > 0 ? forward_out_[cell(q - 1, m)] : none<TaskId>);
      forward_out_[cell(q, m)] = q < last ? sent(task, q, true) : task;
      break;
    case StepKind::backward:
      task = run(backward_works_[chunk], q < last ? backward_out_[cell(q + 1, m)] : none<TaskId>);
      backward_out_[cell(q, m)] = q > 0 ? sent(task, q, false) : task;
      break;
    case StepKind::weights: task = run(weight_works_[chunk], none<TaskId>); break;
  }
  last_[placed.stage] = task;
}

// Gradients, a meeting of all stages for their norm, the update, parameters.
void Builder::end() {
  const WorkId reduce =
      tasks_.work("reduce gradients", TaskKind::collective, CollectiveKind::all_reduce);
  const WorkId meet =
      tasks_.work("meet for the norm of gradients", TaskKind::collective, CollectiveKind::barrier);
  const WorkId step = tasks_.work("optimizer", TaskKind::kernel, CollectiveKind::none);
  const WorkId collect =
      tasks_.work("collect parameters", TaskKind::collective, CollectiveKind::all_gather);
  std::vector<TaskId> reduced;
  for (std::uint32_t stage = 0; stage < shape_.stages; ++stage) {
    reduced.push_back(
        add(compute_[stage], reduce, Phase::communication, stage_slot(shape_, stage, gradients)));
  }
  // One task of length 0 on a lane of its own joins them: 2n edges instead of n squared.
  const LaneId lane = tasks_.lane(LaneKind::channel, 3, 0, "meeting of all stages");
  const TaskId met = add(lane, meet, Phase::communication, zero_slot(shape_));
  for (const TaskId task : reduced) {
    // NOLINTNEXTLINE(readability-suspicious-call-argument): the meeting waits for each
    tasks_.after(met, task, DependencyKind::rendezvous);
  }
  for (std::uint32_t stage = 0; stage < shape_.stages; ++stage) {
    const TaskId updated =
        add(compute_[stage], step, Phase::update, stage_slot(shape_, stage, update));
    tasks_.after(updated, met, DependencyKind::rendezvous);
    static_cast<void>(
        add(compute_[stage], collect, Phase::communication, stage_slot(shape_, stage, parameters)));
  }
}

Result<PipelineTopology> Builder::build() && {
  std::vector<TaskId> new_id;
  FORETRACE_TRY(auto graph, std::move(tasks_.builder).build(new_id));
  PipelineTopology topology;
  topology.schedule = &schedule_;
  topology.shape = shape_;
  topology.sends_beside = sends_beside_;
  topology.has_hosts = has_hosts_;
  topology.slot.resize(slot_.size());
  for (std::size_t i = 0; i < slot_.size(); ++i) {
    topology.slot[new_id.empty() ? i : index(new_id[i])] = slot_[i];
  }
  topology.graph = std::move(graph);
  return topology;
}

}  // namespace

Result<PipelineTopology> pipeline_topology(const ScheduleInfo& schedule, const ScheduleShape& shape,
                                           bool sends_beside, bool has_hosts,
                                           std::span<const std::uint32_t> ranks) {
  FORETRACE_TRY(check_shape(schedule, shape));
  FORETRACE_TRY(const auto sequence, sequence_of(schedule, shape, orders_of(schedule, shape)));
  Builder builder(schedule, shape, sends_beside, has_hosts);
  builder.lanes(ranks);
  for (const PlacedStep& placed : sequence) builder.step(placed);
  builder.end();
  return std::move(builder).build();
}

TaskGraph pipeline_graph(const PipelineTopology& topology, const RankProgram::Step& step) {
  const ScheduleShape& shape = topology.shape;
  const PipelineTimes& times = step.times;
  std::vector<std::int64_t> durations(zero_slot(shape) + 1, 0);
  const auto at = [](const std::vector<std::int64_t>& list, std::size_t i) {
    return i < list.size() ? list[i] : 0;
  };
  for (std::uint32_t q = 0; q < times.forward.size(); ++q) {
    const std::array<std::int64_t, 3> of_pass = {times.forward[q], times.backward[q],
                                                 at(times.weights, q)};
    for (std::uint32_t kind = 0; kind < of_pass.size(); ++kind) {
      durations[position_slot(q, passes + kind)] = of_pass[kind];
      if (q >= times.launches[kind].size()) continue;
      durations[position_slot(q, launches + kind)] = times.launches[kind][q].host;
      durations[position_slot(q, rests + kind)] = times.launches[kind][q].rest;
    }
    durations[position_slot(q, send_forward)] = at(times.send_forward, q);
    durations[position_slot(q, send_backward)] = at(times.send_backward, q);
  }
  for (std::uint32_t stage = 0; stage < step.stages.size(); ++stage) {
    durations[stage_slot(shape, stage, gradients)] = step.stages[stage].gradients;
    durations[stage_slot(shape, stage, update)] = step.stages[stage].update;
    durations[stage_slot(shape, stage, parameters)] = step.stages[stage].parameters;
  }
  auto column = std::make_shared<std::vector<std::int64_t>>(topology.slot.size());
  for (std::size_t i = 0; i < topology.slot.size(); ++i) (*column)[i] = durations[topology.slot[i]];
  Weights weights = topology.graph.weights();
  weights.duration_ns = std::move(column);
  return topology.graph.with_weights(std::move(weights));
}

}  // namespace foretrace
