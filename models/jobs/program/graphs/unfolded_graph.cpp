#include "models/jobs/program/graphs/unfolded_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/jobs/program/graphs/step_tasks.h"
#include "models/jobs/program/stages.h"
#include "models/jobs/schedules/execution.h"
#include "sim/core/random.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

// About 150 bytes each while they are built and simulated: 20 GB.
constexpr std::uint64_t most_tasks = 1ULL << 27U;

// Nearly normal with mean 0 and deviation 1: four numbers of 16 bits, whose sum has a variance of
// 4 / 12. The same on every machine.
double scatter(std::uint64_t number) {
  const std::uint64_t bits = mixed_bits(number);
  double sum = 0;
  for (unsigned i = 0; i < 64; i += 16) {
    sum += static_cast<double>((bits >> i) & 0xffffU) / 65535.0 - 0.5;
  }
  return sum * std::sqrt(3.0);
}

// Points at which the ranks of a tensor group wait for each other. What leaves one part of a layer
// and what enters the next one have little between them: two collectives are one meeting.
std::uint32_t meetings(std::span<const Action> actions) {
  const auto count = std::count_if(actions.begin(), actions.end(), [](const Action& action) {
    const bool begins = action.type == ActionType::collective || action.type == ActionType::start;
    // The last piece of one that runs in pieces has no kernel of its own.
    return begins && action.axis == Axis::tensor && action.kernels > 0;
  });
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>((count + 1) / 2));
}

class Unfolding {
 public:
  Unfolding(const Job& job, const RankProgram& program, const Jitter& jitter)
      : job_(job),
        program_(program),
        step_(program.step),
        jitter_(jitter),
        shape_(step_.times.shape),
        tensor_(job.plan.tensor),
        copies_(job.plan.copies()) {}

  [[nodiscard]] Result<TaskGraph> build();

 private:
  [[nodiscard]] std::uint32_t rank_of(std::uint32_t stage, std::uint32_t copy,
                                      std::uint32_t t) const {
    return (stage * copies_ + copy) * tensor_ + t;
  }
  [[nodiscard]] std::size_t cell(std::uint32_t q, std::uint32_t m, std::uint32_t copy) const {
    return ((std::size_t{q} * shape_.micro_batches + m) * copies_ + copy) * tensor_;
  }
  [[nodiscard]] std::uint32_t pieces_of(std::uint32_t q, bool backward) const;
  [[nodiscard]] std::uint64_t task_count(std::size_t steps) const;
  [[nodiscard]] std::int64_t jittered(std::uint32_t rank, std::int64_t ns);
  void lanes();
  void step(const PlacedStep& placed);
  void pass(const PlacedStep& placed, std::uint32_t copy);
  void piece(const PlacedStep& placed, std::uint32_t copy, std::int64_t ns, bool first);
  void launch(std::uint32_t rank, Phase phase, const LaunchTime& ns);
  void send(const PlacedStep& placed, std::uint32_t copy);
  void end();

  const Job& job_;
  const RankProgram& program_;
  const RankProgram::Step& step_;
  Jitter jitter_;
  ScheduleShape shape_;
  std::uint32_t tensor_;
  std::uint32_t copies_;
  StepTasks tasks_;
  std::vector<LaneId> compute_;         ///< per rank
  std::vector<HostLanes> hosts_;        ///< per rank
  std::vector<LaneId> sends_;           ///< per rank, each way
  std::vector<LaneId> meeting_;         ///< per tensor group
  std::vector<double> speed_;           ///< per rank
  std::vector<TaskId> last_;            ///< per rank
  std::vector<TaskId> met_;             ///< per rank: the meeting before the next piece
  std::vector<TaskId> forward_out_;     ///< per cell and tensor rank: what the next position needs
  std::vector<TaskId> backward_out_;    ///< the same the other way
  std::array<WorkId, 3> pass_works_{};  ///< by kind of step
  WorkId meet_work_{};
  WorkId send_work_{};
  std::uint64_t draws_ = 0;
};

std::uint32_t Unfolding::pieces_of(std::uint32_t q, bool backward) const {
  std::uint32_t pieces = 0;
  for (const BlockRun& run : step_.position(q)) {
    const RankProgram::Block& block = (*program_.blocks)[run.block];
    pieces += run.count * meetings(program_.actions_of(backward ? block.backward : block.forward));
  }
  return std::max(1U, pieces);
}

std::uint64_t Unfolding::task_count(std::size_t steps) const {
  std::uint64_t most = 0;
  for (std::uint32_t q = 0; q < shape_.stages * shape_.chunks; ++q) {
    most = std::max<std::uint64_t>({most, pieces_of(q, false), pieces_of(q, true)});
  }
  const std::uint64_t launches = step_.times.has_launches() ? 3 : 0;
  return steps * std::uint64_t{copies_} * (most * (tensor_ + 1ULL) + tensor_ * (1 + launches));
}

std::int64_t Unfolding::jittered(std::uint32_t rank, std::int64_t ns) {
  double factor = speed_[rank];
  if (jitter_.passes > 0) factor += jitter_.passes * scatter(mixed_bits(jitter_.seed) + ++draws_);
  return to_whole(static_cast<double>(ns) * std::max(0.1, factor));
}

void Unfolding::lanes() {
  const auto lane = [this](LaneKind kind, std::int64_t number, std::uint32_t rank,
                           std::string_view name) {
    return tasks_.lane(kind, number, static_cast<std::int32_t>(rank), name);
  };
  const std::uint32_t ranks = shape_.stages * copies_ * tensor_;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    compute_.push_back(lane(LaneKind::stream, 0, rank, "computation"));
    if (step_.times.has_launches()) hosts_.push_back(tasks_.hosts(static_cast<std::int32_t>(rank)));
    if (!job_.framework->sends_block && shape_.stages > 1) {
      sends_.push_back(lane(LaneKind::channel, 1, rank, "activations to the next stage"));
      sends_.push_back(lane(LaneKind::channel, 2, rank, "gradients to the stage before"));
    }
    if (rank % tensor_ == 0) meeting_.push_back(lane(LaneKind::channel, 3, rank, "tensor group"));
    tasks_.builder.add_rank_class({static_cast<std::int32_t>(rank), 1});
    speed_.push_back(1 + jitter_.ranks * scatter(mixed_bits(~jitter_.seed) + rank));
  }
  pass_works_ = {tasks_.work("forward", TaskKind::kernel, CollectiveKind::none),
                 tasks_.work("backward", TaskKind::kernel, CollectiveKind::none),
                 tasks_.work("gradients of weights", TaskKind::kernel, CollectiveKind::none)};
  meet_work_ = tasks_.work("tensor group meets", TaskKind::collective, CollectiveKind::barrier);
  send_work_ = tasks_.work("send to a neighbour", TaskKind::transfer, CollectiveKind::send);
  last_.assign(ranks, none<TaskId>);
  met_.assign(ranks, none<TaskId>);
  const std::size_t cells = cell(shape_.stages * shape_.chunks, 0, 0);
  forward_out_.assign(cells, none<TaskId>);
  backward_out_.assign(cells, none<TaskId>);
}

// Ranks of a group work on their own and wait for the slowest.
void Unfolding::piece(const PlacedStep& placed, std::uint32_t copy, std::int64_t ns, bool first) {
  const bool backward = placed.step.kind == StepKind::backward;
  const std::uint32_t q = placed.position;
  const std::uint32_t m = placed.step.micro_batch;
  const std::uint32_t last = shape_.stages * shape_.chunks - 1;
  const WorkId what = pass_works_[static_cast<std::size_t>(placed.step.kind)];
  const Phase phase = placed.step.kind == StepKind::forward ? Phase::forward : Phase::backward;
  for (std::uint32_t t = 0; t < tensor_; ++t) {
    const std::uint32_t rank = rank_of(placed.stage, copy, t);
    const TaskId task = tasks_.add(compute_[rank], what, phase, jittered(rank, ns));
    tasks_.after(task, met_[rank], DependencyKind::rendezvous);
    if (first && placed.step.kind == StepKind::forward && q > 0) {
      tasks_.after(task, forward_out_[cell(q - 1, m, copy) + t], DependencyKind::data);
    } else if (first && backward && q < last) {
      tasks_.after(task, backward_out_[cell(q + 1, m, copy) + t], DependencyKind::data);
    }
    last_[rank] = task;
  }
  if (tensor_ == 1) return;
  const std::uint32_t leader = rank_of(placed.stage, copy, 0);
  const TaskId met = tasks_.add(meeting_[leader / tensor_], meet_work_, Phase::communication, 0);
  for (std::uint32_t t = 0; t < tensor_; ++t) {
    tasks_.after(met, last_[leader + t], DependencyKind::rendezvous);
    met_[leader + t] = met;
  }
}

// Hosts are none of what scatters.
void Unfolding::launch(std::uint32_t rank, Phase phase, const LaunchTime& ns) {
  if (hosts_.empty()) return;
  const TaskId all = tasks_.all_launched(hosts_[rank], compute_[rank], phase, ns);
  if (tensor_ > 1) tasks_.after(all, met_[rank], DependencyKind::rendezvous);
  last_[rank] = all;
}

void Unfolding::send(const PlacedStep& placed, std::uint32_t copy) {
  const bool is_forward = placed.step.kind == StepKind::forward;
  const std::uint32_t q = placed.position;
  const std::uint32_t last = shape_.stages * shape_.chunks - 1;
  if (placed.step.kind == StepKind::weights || (is_forward ? q == last : q == 0)) return;
  const std::uint32_t other = is_forward ? q + 1 : q - 1;
  const auto& times = is_forward ? step_.times.send_forward : step_.times.send_backward;
  const bool leaves = !sends_.empty() && stage_of(*job_.schedule, shape_, other) != placed.stage;
  auto& out = is_forward ? forward_out_ : backward_out_;
  for (std::uint32_t t = 0; t < tensor_; ++t) {
    const std::uint32_t rank = rank_of(placed.stage, copy, t);
    TaskId done = tensor_ > 1 && hosts_.empty() ? met_[rank] : last_[rank];
    if (leaves) {
      const TaskId task = tasks_.add(sends_[2 * rank + (is_forward ? 0 : 1)], send_work_,
                                     Phase::communication, times[is_forward ? q : other]);
      tasks_.after(task, done, DependencyKind::data);
      done = task;
    }
    out[cell(q, placed.step.micro_batch, copy) + t] = done;
  }
}

void Unfolding::pass(const PlacedStep& placed, std::uint32_t copy) {
  const PipelineTimes& times = step_.times;
  const std::uint32_t q = placed.position;
  const std::int64_t ns = placed.step.kind == StepKind::forward    ? times.forward[q]
                          : placed.step.kind == StepKind::backward ? times.backward[q]
                                                                   : times.weights[q];
  const std::int64_t pieces = placed.step.kind == StepKind::weights
                                  ? 1
                                  : pieces_of(q, placed.step.kind == StepKind::backward);
  for (std::int64_t i = 0; i < pieces; ++i) {
    piece(placed, copy, ns * (i + 1) / pieces - ns * i / pieces, i == 0);
  }
  if (times.has_launches()) {
    const Phase phase = placed.step.kind == StepKind::forward ? Phase::forward : Phase::backward;
    const LaunchTime& launches = times.launches[static_cast<std::size_t>(placed.step.kind)][q];
    for (std::uint32_t t = 0; t < tensor_; ++t) {
      launch(rank_of(placed.stage, copy, t), phase, launches);
    }
  }
  send(placed, copy);
}

void Unfolding::step(const PlacedStep& placed) {
  if (placed.step.kind != StepKind::forward && !job_.trains()) return;
  for (std::uint32_t copy = 0; copy < copies_; ++copy) pass(placed, copy);
}

// Copies of a part of the model add up its gradients, all ranks meet for their norm, every rank
// updates and collects.
void Unfolding::end() {
  const LaneId lane = tasks_.lane(LaneKind::channel, 4, 0, "meetings of copies");
  const WorkId meet = tasks_.work("copies meet", TaskKind::collective, CollectiveKind::barrier);
  const WorkId reduce =
      tasks_.work("reduce gradients", TaskKind::collective, CollectiveKind::all_reduce);
  const WorkId update = tasks_.work("optimizer", TaskKind::kernel, CollectiveKind::none);
  const WorkId collect =
      tasks_.work("collect parameters", TaskKind::collective, CollectiveKind::all_gather);
  std::vector<TaskId> reduced;
  for (std::uint32_t stage = 0; stage < shape_.stages; ++stage) {
    for (std::uint32_t t = 0; t < tensor_; ++t) {
      // A lane of its own each: they meet in any order.
      const LaneId own = tasks_.lane(LaneKind::channel, 5 + std::int64_t{stage} * tensor_ + t, 0,
                                     "meetings of copies");
      const TaskId met = tasks_.add(own, meet, Phase::communication, 0);
      for (std::uint32_t copy = 0; copy < copies_; ++copy) {
        tasks_.after(met, last_[rank_of(stage, copy, t)], DependencyKind::rendezvous);
      }
      const TaskId task =
          tasks_.add(own, reduce, Phase::communication, step_.stages[stage].gradients);
      reduced.push_back(task);
    }
  }
  const TaskId all_met = tasks_.add(lane, meet, Phase::communication, 0);
  for (const TaskId source : reduced) tasks_.after(all_met, source, DependencyKind::rendezvous);
  for (std::uint32_t rank = 0; rank < compute_.size(); ++rank) {
    const std::uint32_t stage = rank / (copies_ * tensor_);
    const TaskId updated = tasks_.add(compute_[rank], update, Phase::update,
                                      jittered(rank, step_.stages[stage].update));
    tasks_.after(updated, all_met, DependencyKind::rendezvous);
    if (step_.stages[stage].parameters > 0) {
      static_cast<void>(tasks_.add(compute_[rank], collect, Phase::communication,
                                   step_.stages[stage].parameters));
    }
  }
}

Result<TaskGraph> Unfolding::build() {
  FORETRACE_TRY(check_shape(*job_.schedule, shape_));
  FORETRACE_TRY(const auto sequence,
                sequence_of(*job_.schedule, shape_, orders_of(*job_.schedule, shape_)));
  if (const std::uint64_t tasks = task_count(sequence.size()); tasks > most_tasks) {
    return Error{
        ErrorCode::unsupported,
        fmt::format("every rank for itself takes about {} tasks, expected at most {}: fewer ranks "
                    "or micro-batches, or a step without jitter",
                    tasks, most_tasks)};
  }
  lanes();
  for (const PlacedStep& placed : sequence) step(placed);
  if (job_.trains()) end();
  return std::move(tasks_.builder).build();
}

}  // namespace

Result<TaskGraph> unfolded_graph(const Job& job, const RankProgram& program, const Jitter& jitter) {
  FORETRACE_TRY(check_stages_alike(job));
  return Unfolding(job, program, jitter).build();
}

}  // namespace foretrace
