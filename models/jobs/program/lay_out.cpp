// A program becomes a step: times of positions, of sends and of what it ends with.
#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "models/hardware/collectives/collective_costs.h"
#include "models/jobs/program/gradient_sum.h"
#include "models/jobs/program/rank_program.h"
#include "models/jobs/program/sharded_passes.h"
#include "models/jobs/program/stages.h"
#include "models/jobs/times/two_lanes.h"
#include "models/jobs/workloads/layered.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

// Of the optimizer, per parameter; 0 where none was recorded.
double recorded_update_ns(const TransformerSpec& model) {
  const bool is_known = model.layered != nullptr && model.layered->recorded.has_value();
  return is_known ? model.layered->recorded->update_ns : 0;
}

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

// What a window no longer sees is thrown away.
double kept_positions(const Job& job, const RankProgram::Block& layer) {
  const double all = job.pass == Pass::decode ? job.keys : job.length;
  return (layer.window > 0 ? std::min(all, layer.window) : all) / job.plan.context;
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
  [[nodiscard]] ShardedPasses sharded() const { return {job_, plan_, blocks_, scale_, kernels_}; }
  [[nodiscard]] std::uint32_t stage_at(std::uint32_t position) const {
    return stage_of(*job_.schedule, step_.times.shape, position);
  }
  [[nodiscard]] std::uint32_t position_at(std::uint32_t stage, std::uint32_t chunk) const {
    return position_of(*job_.schedule, step_.times.shape, stage, chunk);
  }
  void cut_order();
  void turn_to(std::uint32_t stage);
  [[nodiscard]] bool passes_are_alike() const;
  [[nodiscard]] bool reaches_as_before(std::uint32_t position) const;
  [[nodiscard]] bool is_passed_as_before(std::uint32_t position) const;
  [[nodiscard]] double send_ns(std::uint32_t position, const Placement& pair, bool forward) const;
  void add_boundaries(std::uint32_t boundaries);
  void add_sends();
  [[nodiscard]] double blocked_ns(std::uint32_t position, bool forward) const;
  void add_position(std::uint32_t position);
  void repeat_position();
  [[nodiscard]] RankProgram::Stage stage_sums(std::uint32_t stage) const;
  void add_resident(const BlockRun& run, RankProgram::Stage& own) const;
  void end_stage(std::uint32_t stage, RankProgram::Stage& own);
  [[nodiscard]] double update_ns(const RankProgram::Stage& own) const;
  [[nodiscard]] bool is_as_before(std::uint32_t stage) const;
  [[nodiscard]] double reduction_ns(double dense, double expert);
  [[nodiscard]] double gradient_ns(const GradientExchange& stated) const;
  template <typename Start>
  [[nodiscard]] double beside_backward(std::uint32_t stage, const Start& start) const;
  [[nodiscard]] double exposed_reduction(std::uint32_t stage, double dense, double expert);
  [[nodiscard]] double exposed_collection(std::uint32_t stage, double dense, double expert) const;

  const Job& job_;
  const SourceScale& scale_;
  ParallelPlan plan_;  // of the stage that is looked at
  KernelTimes kernels_;
  RankProgram program_;
  const std::vector<RankProgram::Block>& blocks_;
  RankProgram::Step& step_ = program_.step;
  // Buckets of gradients are mostly alike: the last one.
  double bucket_dense_ = -1;
  double bucket_expert_ = -1;
  double bucket_ns_ = 0;
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
  if (!job_.has_own_ranks()) return;
  plan_ = stage_plan(job_, stage);
  bucket_dense_ = bucket_expert_ = -1;
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
  if (!job_.framework->sends_block || send_forward_.empty()) return 0;
  if (forward) {
    return send_forward_[std::min<std::size_t>(position, send_forward_.size() - 1)];
  }
  return send_backward_[position > 0 ? position - 1 : 0];
}

double Layout::reduction_ns(double dense, double expert) {
  if (dense == bucket_dense_ && expert == bucket_expert_) return bucket_ns_;
  const CollectiveKind kind = plan_.sharding == Sharding::none ? CollectiveKind::all_reduce
                                                               : CollectiveKind::reduce_scatter;
  const double bytes = job_.framework->reduce_bytes;
  bucket_dense_ = dense;
  bucket_expert_ = expert;
  bucket_ns_ =
      gradient_sum_ns(job_, axis_of(plan_, Axis::data), {kind, dense * bytes, {}}, scale_) +
      gradient_sum_ns(job_, expert_copies(plan_), {kind, expert * bytes, {}}, scale_);
  return bucket_ns_;
}

double Layout::gradient_ns(const GradientExchange& stated) const {
  const Exchange& exchange = stated.exchange;
  const double ns = gradient_sum_ns(job_, gradient_axis(plan_, stated),
                                    {exchange.kind, exchange.bytes, {}}, scale_);
  return ns > 0 ? ns + exchange.delay_ns : 0;
}

// What is started while the last micro-batch runs backward: as much of it as nothing hides.
// `start` is called when a block is done, and with none at the end.
template <typename Start>
double Layout::beside_backward(std::uint32_t stage, const Start& start) const {
  TwoLanes lanes(job_.framework->communication_slowdown.typical);
  double computed = 0;
  for (std::uint32_t chunk = job_.chunks; chunk-- > 0;) {
    const std::vector<std::uint32_t> blocks = expanded(step_.position(position_at(stage, chunk)));
    for (std::size_t i = blocks.size(); i-- > 0;) {
      const RankProgram::Block& block = blocks_[blocks[i]];
      lanes.compute(block.backward.time.total, job_.framework->product_slowdown.typical);
      computed += block.backward.time.total;
      start(lanes, &block);
    }
  }
  start(lanes, nullptr);
  static_cast<void>(lanes.wait_all());
  return lanes.now() - computed;
}

// Recorded layers have collectives of their own; of others, buckets leave.
double Layout::exposed_reduction(std::uint32_t stage, double dense, double expert) {
  if (program_.states_gradients()) {
    return beside_backward(stage, [this](TwoLanes& lanes, const RankProgram::Block* block) {
      if (block == nullptr) return;
      for (const GradientExchange& stated : block->gradients) {
        if (const double ns = gradient_ns(stated); ns > 0) static_cast<void>(lanes.start(ns));
      }
    });
  }
  if (!job_.framework->overlaps_gradients) return reduction_ns(dense, expert);
  const double bucket = bucket_elements(plan_);
  double waiting_dense = 0;
  double waiting_expert = 0;
  return beside_backward(stage, [&](TwoLanes& lanes, const RankProgram::Block* block) {
    if (block != nullptr) {
      waiting_dense += block->dense_weights;
      waiting_expert += block->expert_weights;
    }
    const double waiting = waiting_dense + waiting_expert;
    if (block == nullptr ? !(waiting > 0) : waiting < bucket) return;
    static_cast<void>(lanes.start(reduction_ns(waiting_dense, waiting_expert)));
    waiting_dense = waiting_expert = 0;
  });
}

double Layout::exposed_collection(std::uint32_t stage, double dense, double expert) const {
  const double bytes = job_.framework->gather_bytes;
  const double all =
      collective_ns(axis_of(plan_, Axis::data), CollectiveKind::all_gather, dense * bytes) +
      collective_ns(expert_copies(plan_), CollectiveKind::all_gather, expert * bytes);
  if (!job_.framework->overlaps_parameters || !(all > 0)) return all;
  // The first bucket has nothing to hide behind, the others have the first forward pass.
  const double bucket = bucket_elements(plan_);
  const double first = all * std::min(1.0, bucket / std::max(dense + expert, 1.0));
  double window = 0;
  for (std::uint32_t chunk = 0; chunk < job_.chunks; ++chunk) {
    window += step_.forward[position_at(stage, chunk)].total;
  }
  const double hidden =
      std::min(all - first, window / job_.framework->communication_slowdown.typical);
  return all - hidden;
}

// Sharded parameters: what every rank of the stage keeps.
void Layout::add_resident(const BlockRun& run, RankProgram::Stage& own) const {
  const std::uint32_t ranks = shard_axis(plan_).size;
  for (const double n : blocks_[run.block].traveling) {
    if (n >= job_.framework->travel.resident_elements) continue;
    own.resident += run.count * n;
    own.resident_parts += run.count * std::min<double>(n, ranks);
  }
}

RankProgram::Stage Layout::stage_sums(std::uint32_t stage) const {
  RankProgram::Stage own;
  bool has_embedding = false;
  bool has_head = false;
  for (std::uint32_t chunk = 0; chunk < job_.chunks; ++chunk) {
    for (const BlockRun& run : step_.position(position_at(stage, chunk))) {
      const RankProgram::Block& block = blocks_[run.block];
      own.dense += run.count * block.dense_weights;
      own.expert += run.count * block.expert_weights;
      own.tensors += run.count * block.tensors;
      has_embedding = has_embedding || block.role == BlockRole::embedding;
      has_head = has_head || block.role == BlockRole::head;
      if (plan_.sharding == Sharding::parameters) add_resident(run, own);
      if (block.role == BlockRole::layer) own.positions += run.count * kept_positions(job_, block);
      // Logits and losses of one micro-batch are gone when the next one comes.
      if (block.role == BlockRole::head) {
        own.working = std::max(own.working, block.kept_bytes);
      } else {
        own.kept += run.count * block.kept_bytes;
      }
      own.working = std::max(own.working, block.working_bytes);
      own.largest = std::max(own.largest, block.dense_weights + block.expert_weights);
    }
  }
  const double tied = program_.tied_weights / (job_.has_own_ranks() ? plan_.tensor : 1);
  if (has_embedding && has_head) own.tied_here = tied;
  if (has_embedding != has_head) own.tied_away = tied;
  return own;
}

double Layout::update_ns(const RankProgram::Stage& own) const {
  const bool is_whole = plan_.sharding == Sharding::none;
  const double share = is_whole ? 1 : 1.0 / plan_.shards();
  const double expert_share = is_whole ? 1 : 1.0 / std::max(1U, expert_copies(plan_).size);
  const double updated = (own.dense - own.tied_here) * share + own.expert * expert_share;
  if (const double recorded = recorded_update_ns(*job_.model); recorded > 0) {
    return updated * recorded * scale_[static_cast<std::size_t>(CostSource::recorded)];
  }
  const double device = kernels_.move(updated * job_.framework->update_bytes, 10).ns *
                        scale_[static_cast<std::size_t>(CostSource::memory)];
  const double host = own.tensors * job_.framework->update_kernels *
                      job_.framework->host_kernel_ns.typical *
                      scale_[static_cast<std::size_t>(CostSource::host)];
  return std::max(device, host);
}

void Layout::end_stage(std::uint32_t stage, RankProgram::Stage& own) {
  const double dense = own.dense - own.tied_here;
  const Sharding sharding = plan_.sharding;
  double reduction =
      sharding == Sharding::parameters ? 0 : exposed_reduction(stage, dense, own.expert);
  if (own.tied_away > 0) {
    reduction += collective_ns(embedding_axis(job_), CollectiveKind::all_reduce,
                               own.tied_away * job_.framework->reduce_bytes);
  }
  own.gradients = to_whole(reduction);
  const bool collects = sharding == Sharding::optimizer || sharding == Sharding::gradients;
  const ShardedPasses::ResidentCollection residents = sharded().resident_collection(own);
  own.parameters =
      to_whole(collects ? exposed_collection(stage, dense, own.expert) : residents.gather);
  own.update = to_whole(update_ns(own) + residents.host);
}

// Stages in the middle are mostly alike.
bool Layout::is_as_before(std::uint32_t stage) const {
  if (stage == 0 || stage_plan(job_, stage) != stage_plan(job_, stage - 1)) return false;
  for (std::uint32_t chunk = 0; chunk < job_.chunks; ++chunk) {
    const Runs here = step_.position(position_at(stage, chunk));
    const Runs before = step_.position(position_at(stage - 1, chunk));
    if (!std::equal(here.begin(), here.end(), before.begin(), before.end())) return false;
  }
  return true;
}

void Layout::repeat_position() {
  PipelineTimes& times = step_.times;
  step_.forward.push_back(step_.forward.back());
  step_.backward.push_back(step_.backward.back());
  times.forward.push_back(times.forward.back());
  times.backward.push_back(times.backward.back());
  if (job_.schedule->splits_backward) times.weights.push_back(times.weights.back());
}

bool Layout::is_passed_as_before(std::uint32_t position) const {
  const Runs here = step_.position(position);
  const Runs before = step_.position(position - 1);
  return passes_are_alike() && std::equal(here.begin(), here.end(), before.begin(), before.end()) &&
         blocked_ns(position, true) == blocked_ns(position - 1, true) &&
         blocked_ns(position, false) == blocked_ns(position - 1, false);
}

void Layout::add_position(std::uint32_t position) {
  turn_to(stage_at(position));
  const Runs runs = step_.position(position);
  PipelineTimes& times = step_.times;
  const bool all_sharded = plan_.sharding == Sharding::parameters;
  const auto timed = [&](bool backward) {
    return all_sharded ? sharded().pass(runs, backward) : plain_pass(blocks_, runs, backward);
  };
  step_.forward.push_back(timed(false));
  if (job_.trains()) {
    step_.backward.push_back(timed(true));
  } else {
    step_.backward.emplace_back();
  }
  for (const bool forward : {true, false}) {
    const double send = blocked_ns(position, forward);
    if (!(send > 0) || (!forward && !job_.trains())) continue;
    PassTime& pass = forward ? step_.forward.back() : step_.backward.back();
    pass.total += send;
    pass.exposed[static_cast<std::size_t>(Axis::pipeline)] += send;
  }
  times.forward.push_back(to_whole(step_.forward.back().total));
  times.backward.push_back(to_whole(step_.backward.back().total));
  if (!job_.schedule->splits_backward) return;
  double weights = 0;
  for (const BlockRun& run : runs) weights += run.count * blocks_[run.block].weights.time.total;
  times.weights.push_back(to_whole(weights));
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
  step_.stages.reserve(job_.plan.pipeline);
  for (std::uint32_t stage = 0; stage < job_.plan.pipeline; ++stage) {
    if (is_as_before(stage)) {
      step_.stages.push_back(step_.stages.back());
      continue;
    }
    turn_to(stage);
    RankProgram::Stage own = stage_sums(stage);
    if (job_.trains()) end_stage(stage, own);
    step_.stages.push_back(own);
  }
  if (Status status = check_times(step_); !status.ok()) return std::move(status).error();
  return std::move(program_);
}

}  // namespace

Result<RankProgram> laid_out(const Job& job, RankProgram program, const SourceScale& scale) {
  return Layout(job, std::move(program), scale).all();
}

}  // namespace foretrace
