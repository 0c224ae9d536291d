// A program becomes a step: its order is cut at the positions of a pipeline, which get the times of
// their passes and of what they send.
#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "models/hardware/collectives/collective_costs.h"
#include "models/jobs/program/rank_program.h"
#include "models/jobs/program/sharded_passes.h"
#include "models/jobs/program/stage_ends.h"
#include "models/jobs/program/stages.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

constexpr double ns_of_a_year = 365.0 * 24 * 3600 * 1e9;

// Whatever waits for what, a step takes no longer than all that its stages do one after the other.
Status check_times(const RankProgram::Step& step) {
  constexpr double longest_ns = 0x1p60;
  const auto sum = [](const std::vector<std::int64_t>& list) {
    return std::accumulate(list.begin(), list.end(), 0.0);
  };
  const PipelineTimes& times = step.times;
  double ns = sum(times.forward) + sum(times.backward) + sum(times.weights) +
              sum(times.send_forward) + sum(times.send_backward);
  ns *= times.shape.micro_batches;
  for (const RankProgram::Stage& stage : step.stages) {
    ns += static_cast<double>(stage.gradients) + static_cast<double>(stage.parameters) +
          static_cast<double>(stage.update);
  }
  if (ns < longest_ns) return ok_status();
  return Error{ErrorCode::bad_config,
               fmt::format("a step: got {:.3g} years of work or more, expected at most {:.0f}: a "
                           "rate of the cluster is too small, or model or batch are too large",
                           ns / ns_of_a_year, longest_ns / ns_of_a_year)};
}

class Layout {
 public:
  Layout(const Job& job, RankProgram program, const SourceScale& scale)
      : job_(job),
        scale_(scale),
        plan_(stage_plan(job, 0)),
        kernels_(*job.cluster, *job.framework, job.precisions),
        program_(std::move(program)),
        blocks_(*program_.blocks) {}

  [[nodiscard]] Result<RankProgram> all();

 private:
  using Runs = std::span<const BlockRun>;
  [[nodiscard]] double collective_ns(const GridAxis& axis, CollectiveKind kind, double bytes) const;
  [[nodiscard]] std::uint32_t stage_at(std::uint32_t position) const {
    return stage_of(*job_.schedule, step_.times.shape, position);
  }
  void cut_order();
  void turn_to(std::uint32_t stage);
  [[nodiscard]] bool passes_are_alike() const;
  [[nodiscard]] bool reaches_as_before(std::uint32_t position) const;
  [[nodiscard]] bool is_passed_as_before(std::uint32_t position) const;
  [[nodiscard]] double send_ns(std::uint32_t position, const Placement& pair, bool forward) const;
  void add_boundaries(std::uint32_t boundaries);
  void add_sends();
  [[nodiscard]] bool waits_for_messages() const {
    return job_.framework->sends_block && !send_forward_.empty();
  }
  [[nodiscard]] double blocked_ns(std::uint32_t position, bool forward) const;
  static void launch_in_a_row(PassTime& pass, double send_ns);
  void add_position(std::uint32_t position);
  void repeat_position();

  const Job& job_;
  const SourceScale& scale_;
  ParallelPlan plan_;  // of the stage that is looked at
  KernelTimes kernels_;
  RankProgram program_;
  const std::vector<RankProgram::Block>& blocks_;
  RankProgram::Step& step_ = program_.step;
  // What a position sends to the next one, and gets back, in ns; one for all where all are alike.
  std::vector<double> send_forward_;
  std::vector<double> send_backward_;
};

// By position, which has so many layers. The embedding comes first, the head last.
void Layout::cut_order() {
  struct Placed {
    std::uint32_t position;
    BlockRun run;
  };
  std::vector<std::uint32_t> room = layers_by_position(job_);
  const auto positions = static_cast<std::uint32_t>(room.size());
  std::vector<Placed> placed;
  placed.reserve(program_.order.size() + positions);
  std::uint32_t at = 0;
  for (const BlockRun& run : program_.order) {
    const BlockRole role = blocks_[run.block].role;
    if (role != BlockRole::layer) {
      placed.push_back({role == BlockRole::head ? positions - 1 : 0, run});
      continue;
    }
    for (std::uint32_t left = run.count; left > 0;) {
      while (room[at] == 0) ++at;
      const std::uint32_t taken = std::min(left, room[at]);
      placed.push_back({at, {run.block, taken}});
      room[at] -= taken;
      left -= taken;
    }
  }
  const auto earlier = [](const Placed& a, const Placed& b) { return a.position < b.position; };
  if (!std::is_sorted(placed.begin(), placed.end(), earlier)) {
    std::stable_sort(placed.begin(), placed.end(), earlier);
  }
  step_.runs.reserve(placed.size());
  step_.first_run.reserve(positions + 1);
  for (const Placed& one : placed) {
    step_.first_run.resize(one.position + 1, static_cast<std::uint32_t>(step_.runs.size()));
    step_.runs.push_back(one.run);
  }
  step_.first_run.resize(positions + 1, static_cast<std::uint32_t>(step_.runs.size()));
}

double Layout::collective_ns(const GridAxis& axis, CollectiveKind kind, double bytes) const {
  return scaled_collective_ns(*job_.cluster, axis, {kind, bytes, {}}, scale_);
}

void Layout::turn_to(std::uint32_t stage) {
  if (job_.has_own_ranks()) plan_ = stage_plan(job_, stage);
}

// Layers of a transformer pass on the same numbers.
bool Layout::passes_are_alike() const { return !job_.has_own_ranks() && !job_.has_samples(); }

// Whether what a position passes on goes as far as what the one before it does.
bool Layout::reaches_as_before(std::uint32_t position) const {
  if (!passes_are_alike()) return false;
  const auto distance = [this](std::uint32_t at) {
    const std::uint32_t from = stage_at(at);
    const std::uint32_t to = stage_at(at + 1);
    return from < to ? to - from : from - to;
  };
  return distance(position - 1) == distance(position);
}

// From a position to the next, or back. The side with fewer ranks decides how many pieces go at
// once; where tensor ranks got a piece each, they put them together.
double Layout::send_ns(std::uint32_t position, const Placement& pair, bool forward) const {
  if (job_.plan.pipeline <= 1) return 0;
  const std::uint32_t from = stage_at(position);
  const std::uint32_t to = stage_at(position + 1);
  const ParallelPlan near = stage_plan(job_, from);
  const ParallelPlan far = stage_plan(job_, to);
  const auto pieces = [this](const ParallelPlan& plan) {
    return sends_pieces(job_, plan) ? plan.tensor : 1U;
  };
  const double bytes = passed_bytes(job_, program_, position + 1, to);
  const std::uint32_t at_once =
      std::min(batch_parts(job_, from) * pieces(near), batch_parts(job_, to) * pieces(far));
  double ns =
      placed_collective_ns(*job_.cluster, {CollectiveKind::send, bytes / at_once, pair}, scale_);
  const ParallelPlan& receiver = forward ? far : near;
  if (pieces(receiver) > 1 && !receiver.sequence) {
    ns += collective_ns(axis_of(receiver, Axis::tensor), CollectiveKind::all_gather,
                        bytes / batch_parts(job_, forward ? to : from));
  }
  return ns;
}

void Layout::add_boundaries(std::uint32_t boundaries) {
  // Stages of whole nodes all lie alike, but for tiers above the nodes.
  const std::uint32_t node = std::max(job_.cluster->node_accelerators, 1U);
  const bool lie_alike =
      job_.cluster->tier_network.tiers.empty() && stage_ranks(job_, 0) % node == 0;
  Placement before;
  for (std::uint32_t position = 0; position < boundaries; ++position) {
    const bool reaches = position > 0 && reaches_as_before(position);
    const bool is_known = reaches && lie_alike;
    const Placement pair =
        is_known ? before : pair_placement(job_, stage_at(position), stage_at(position + 1));
    if (reaches && pair == before) {
      send_forward_.push_back(send_forward_.back());
      send_backward_.push_back(send_backward_.back());
    } else {
      send_forward_.push_back(send_ns(position, pair, true));
      send_backward_.push_back(send_ns(position, pair, false));
    }
    before = pair;
  }
}

void Layout::add_sends() {
  const auto boundaries = static_cast<std::uint32_t>(step_.first_run.size()) - 2;
  if (boundaries == 0) return;
  add_boundaries(boundaries);
  PipelineTimes& times = step_.times;
  for (std::uint32_t position = 0; position < boundaries; ++position) {
    const bool beside = !job_.framework->sends_block;
    times.send_forward.push_back(beside ? to_whole(send_forward_[position]) : 0);
    times.send_backward.push_back(beside && job_.trains() ? to_whole(send_backward_[position]) : 0);
  }
}

// Each pass of a position waits for one message: what it sends, at the ends what it receives.
double Layout::blocked_ns(std::uint32_t position, bool forward) const {
  if (!waits_for_messages()) return 0;
  if (forward) {
    return send_forward_[std::min<std::size_t>(position, send_forward_.size() - 1)];
  }
  return send_backward_[position > 0 ? position - 1 : 0];
}

// A host that waits for the pass before is ahead of this one by the message between them at most.
void Layout::launch_in_a_row(PassTime& pass, double send_ns) {
  pass.late_calls = std::max(0.0, pass.launching + pass.rest - pass.total - send_ns);
  pass.total += pass.late_calls;
  pass.launching = pass.rest = 0;
}

void Layout::repeat_position() {
  PipelineTimes& times = step_.times;
  step_.forward.push_back(step_.forward.back());
  step_.backward.push_back(step_.backward.back());
  times.forward.push_back(times.forward.back());
  times.backward.push_back(times.backward.back());
  if (job_.schedule->splits_backward) times.weights.push_back(times.weights.back());
  for (std::vector<LaunchTime>& kind : times.launches) {
    if (!kind.empty()) kind.push_back(kind.back());
  }
}

bool Layout::is_passed_as_before(std::uint32_t position) const {
  const Runs here = step_.position(position);
  const Runs before = step_.position(position - 1);
  return passes_are_alike() && std::equal(here.begin(), here.end(), before.begin(), before.end()) &&
         keeps_last_collected(job_, position) == keeps_last_collected(job_, position - 1) &&
         blocked_ns(position, true) == blocked_ns(position - 1, true) &&
         blocked_ns(position, false) == blocked_ns(position - 1, false);
}

void Layout::add_position(std::uint32_t position) {
  turn_to(stage_at(position));
  const Runs runs = step_.position(position);
  PipelineTimes& times = step_.times;
  const bool all_sharded = plan_.sharding == Sharding::parameters && !keeps_collected(job_, plan_);
  const ShardedPasses sharded(job_, plan_, blocks_, scale_, kernels_);
  const auto timed = [&](bool backward) {
    return all_sharded ? sharded.pass(runs, backward, keeps_last_collected(job_, position))
                       : plain_pass(blocks_, runs, backward);
  };
  step_.forward.push_back(timed(false));
  if (job_.trains()) {
    step_.backward.push_back(timed(true));
  } else {
    step_.backward.emplace_back();
  }
  for (const bool forward : {true, false}) {
    const double send = blocked_ns(position, forward);
    PassTime& pass = forward ? step_.forward.back() : step_.backward.back();
    if (waits_for_messages()) launch_in_a_row(pass, send);
    if (!(send > 0) || (!forward && !job_.trains())) continue;
    pass.total += send;
    pass.exposed[static_cast<std::size_t>(Axis::pipeline)] += send;
  }
  const auto add = [&](StepKind kind, const PassTime& pass, std::vector<std::int64_t>& ns) {
    ns.push_back(to_whole(pass.total));
    if (waits_for_messages() || !(job_.framework->host_kernel_ns.typical > 0)) return;
    times.launches[static_cast<std::size_t>(kind)].push_back(
        {to_whole(pass.launching), to_whole(pass.rest)});
  };
  add(StepKind::forward, step_.forward.back(), times.forward);
  add(StepKind::backward, step_.backward.back(), times.backward);
  if (!job_.schedule->splits_backward) return;
  PassTime weights;
  for (const BlockRun& run : runs) weights.add(blocks_[run.block].weights.time, run.count);
  if (waits_for_messages()) launch_in_a_row(weights, 0);
  add(StepKind::weights, weights, times.weights);
}

Result<RankProgram> Layout::all() {
  step_ = {};
  step_.times.shape = job_.shape();
  cut_order();
  const auto positions = static_cast<std::uint32_t>(step_.first_run.size()) - 1;
  step_.forward.reserve(positions);
  step_.backward.reserve(positions);
  add_sends();
  for (std::uint32_t i = 0; i < positions; ++i) {
    if (i > 0 && is_passed_as_before(i)) {
      repeat_position();
    } else {
      add_position(i);
    }
  }
  step_.stages = StageEnds(job_, program_, scale_, kernels_).all();
  FORETRACE_TRY(check_times(step_));
  return std::move(program_);
}

}  // namespace

Result<RankProgram> laid_out(const Job& job, RankProgram program, const SourceScale& scale) {
  return Layout(job, std::move(program), scale).all();
}

}  // namespace foretrace
