// Times of positions, of sends and of what a step ends with.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "models/hardware/collectives/collective_costs.h"
#include "models/jobs/program/estimate.h"
#include "models/jobs/program/gradient_sum.h"
#include "models/jobs/program/passed_bytes.h"
#include "models/jobs/program/sharded_passes.h"
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
Status check_times(const StepParts& parts) {
  constexpr double longest_ns = 0x1p60;
  const auto sum = [](const std::vector<std::int64_t>& list) {
    return std::accumulate(list.begin(), list.end(), 0.0);
  };
  const PipelineTimes& times = parts.times;
  double ns = sum(times.forward) + sum(times.backward) + sum(times.weights) +
              sum(times.send_forward) + sum(times.send_backward);
  ns = ns * times.shape.micro_batches + sum(parts.gradients) + sum(parts.parameters) +
       sum(parts.update);
  if (ns < longest_ns) return ok_status();
  return Error{ErrorCode::bad_config,
               fmt::format("a step: got {:.3g} years of work or more, expected at most {:.0f}: a "
                           "rate of the cluster is too small, or model or batch are too large",
                           ns / ns_of_a_year, longest_ns / ns_of_a_year)};
}

class Parts {
 public:
  Parts(const Job& job, const JobBlocks& blocks, const std::vector<BlockTimes>& times,
        const SourceScale& scale)
      : job_(job),
        blocks_(blocks),
        times_(times),
        scale_(scale),
        plan_(stage_plan(job, 0)),
        kernels_(*job.cluster, *job.framework, job.precisions) {}

  [[nodiscard]] Result<StepParts> all();

 private:
  using Runs = std::vector<BlockRun>;
  [[nodiscard]] double collective_ns(const GridAxis& axis, CollectiveKind kind, double bytes) const;
  [[nodiscard]] ShardedPasses sharded() const { return {job_, plan_, times_, scale_, kernels_}; }
  [[nodiscard]] ShardedPasses::ResidentCollection resident_collection(std::uint32_t stage) const;
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
  void stage_end(std::uint32_t stage);
  [[nodiscard]] bool is_as_before(std::uint32_t stage) const;
  void repeat_stage();
  [[nodiscard]] double reduction_ns(double dense, double expert);
  [[nodiscard]] bool states_gradients() const;
  [[nodiscard]] double gradient_ns(const GradientExchange& stated) const;
  template <typename Start>
  [[nodiscard]] double beside_backward(std::uint32_t stage, const Start& start) const;
  [[nodiscard]] double exposed_reduction(std::uint32_t stage, double dense, double expert);
  [[nodiscard]] double exposed_collection(std::uint32_t stage, double dense, double expert) const;

  const Job& job_;
  const JobBlocks& blocks_;
  const std::vector<BlockTimes>& times_;
  const SourceScale& scale_;
  ParallelPlan plan_;  // of the stage that is looked at
  KernelTimes kernels_;
  StepParts parts_;
  // Buckets of gradients are mostly alike: the last one.
  double bucket_dense_ = -1;
  double bucket_expert_ = -1;
  double bucket_ns_ = 0;
  // What a position sends to the next one, and gets back, in ns; one for all where all are alike.
  std::vector<double> send_forward_;
  std::vector<double> send_backward_;
};

double Parts::collective_ns(const GridAxis& axis, CollectiveKind kind, double bytes) const {
  return scaled_collective_ns(*job_.cluster, axis, {kind, bytes, {}}, scale_);
}

// Of the tensors that every rank of the stage keeps.
ShardedPasses::ResidentCollection Parts::resident_collection(std::uint32_t stage) const {
  if (plan_.sharding != Sharding::parameters) return {};
  Runs runs;
  for (std::uint32_t chunk = 0; chunk < job_.chunks; ++chunk) {
    const auto position = position_of(*job_.schedule, parts_.times.shape, stage, chunk);
    runs.insert(runs.end(), parts_.positions[position].begin(), parts_.positions[position].end());
  }
  return sharded().resident_collection(runs);
}

void Parts::turn_to(std::uint32_t stage) {
  if (!job_.has_own_ranks()) return;
  plan_ = stage_plan(job_, stage);
  bucket_dense_ = bucket_expert_ = -1;
}

// Layers of a transformer pass on the same numbers.
bool Parts::passes_are_alike() const { return !job_.has_own_ranks() && !job_.has_samples(); }

// Whether what a position passes on goes as far as what the one before it does.
bool Parts::reaches_as_before(std::uint32_t position) const {
  if (!passes_are_alike()) return false;
  const auto distance = [this](std::uint32_t at) {
    const std::uint32_t from = stage_of(*job_.schedule, parts_.times.shape, at);
    const std::uint32_t to = stage_of(*job_.schedule, parts_.times.shape, at + 1);
    return from < to ? to - from : from - to;
  };
  return distance(position - 1) == distance(position);
}

// From a position to the next, or back. The side with fewer ranks decides how many pieces go at
// once; where tensor ranks got a piece each, they put them together.
double Parts::send_ns(std::uint32_t position, const Placement& pair, bool forward) const {
  if (job_.plan.pipeline <= 1) return 0;
  const ScheduleShape& shape = parts_.times.shape;
  const std::uint32_t from = stage_of(*job_.schedule, shape, position);
  const std::uint32_t to = stage_of(*job_.schedule, shape, position + 1);
  const ParallelPlan near = stage_plan(job_, from);
  const ParallelPlan far = stage_plan(job_, to);
  const auto pieces = [this](const ParallelPlan& plan) {
    const bool parts = plan.tensor > 1 && (plan.sequence || job_.framework->scatters_sends);
    return parts ? plan.tensor : 1U;
  };
  const double bytes = passed_bytes(job_, blocks_, times_, parts_.positions[position + 1], to);
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

void Parts::add_boundaries(std::uint32_t boundaries) {
  // Stages of whole nodes all lie alike, but for tiers above the nodes.
  const std::uint32_t node = std::max(job_.cluster->node_accelerators, 1U);
  const bool lie_alike =
      job_.cluster->tier_network.tiers.empty() && stage_ranks(job_, 0) % node == 0;
  Placement before;
  for (std::uint32_t position = 0; position < boundaries; ++position) {
    const bool reaches = position > 0 && reaches_as_before(position);
    const auto stage = [&](std::uint32_t at) {
      return stage_of(*job_.schedule, parts_.times.shape, at);
    };
    const bool is_known = reaches && lie_alike;
    const Placement pair =
        is_known ? before : pair_placement(job_, stage(position), stage(position + 1));
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

void Parts::add_sends() {
  const auto boundaries = static_cast<std::uint32_t>(parts_.positions.size()) - 1;
  if (boundaries == 0) return;
  add_boundaries(boundaries);
  PipelineTimes& times = parts_.times;
  for (std::uint32_t position = 0; position < boundaries; ++position) {
    const bool beside = !job_.framework->sends_block;
    times.send_forward.push_back(beside ? to_whole(send_forward_[position]) : 0);
    times.send_backward.push_back(beside && job_.trains() ? to_whole(send_backward_[position]) : 0);
  }
}

// Each pass of a position waits for one message: what it sends, at the ends what it receives.
double Parts::blocked_ns(std::uint32_t position, bool forward) const {
  if (!job_.framework->sends_block || send_forward_.empty()) return 0;
  if (forward) {
    return send_forward_[std::min<std::size_t>(position, send_forward_.size() - 1)];
  }
  return send_backward_[position > 0 ? position - 1 : 0];
}

double Parts::reduction_ns(double dense, double expert) {
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

bool Parts::states_gradients() const {
  return std::any_of(times_.begin(), times_.end(),
                     [](const BlockTimes& block) { return !block.gradients.empty(); });
}

double Parts::gradient_ns(const GradientExchange& stated) const {
  const Exchange& exchange = stated.exchange;
  const GridAxis axis =
      stated.among_expert_copies ? expert_copies(plan_) : axis_of(plan_, exchange.axis);
  const double ns = gradient_sum_ns(job_, axis, {exchange.kind, exchange.bytes, {}}, scale_);
  return ns > 0 ? ns + exchange.delay_ns : 0;
}

// What is started while the last micro-batch runs backward: as much of it as nothing hides.
// `start` is called when a block is done, and with none at the end.
template <typename Start>
double Parts::beside_backward(std::uint32_t stage, const Start& start) const {
  TwoLanes lanes(job_.framework->communication_slowdown.typical);
  double computed = 0;
  for (std::uint32_t chunk = job_.chunks; chunk-- > 0;) {
    const std::uint32_t position = position_of(*job_.schedule, parts_.times.shape, stage, chunk);
    const std::vector<std::uint32_t> blocks = expanded(parts_.positions[position]);
    for (std::size_t i = blocks.size(); i-- > 0;) {
      const BlockTimes& block = times_[blocks[i]];
      lanes.compute(block.backward.total, job_.framework->product_slowdown.typical);
      computed += block.backward.total;
      start(lanes, &block);
    }
  }
  start(lanes, nullptr);
  static_cast<void>(lanes.wait_all());
  return lanes.now() - computed;
}

// Recorded layers have collectives of their own; of others, buckets leave.
double Parts::exposed_reduction(std::uint32_t stage, double dense, double expert) {
  if (states_gradients()) {
    return beside_backward(stage, [this](TwoLanes& lanes, const BlockTimes* block) {
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
  return beside_backward(stage, [&](TwoLanes& lanes, const BlockTimes* block) {
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

double Parts::exposed_collection(std::uint32_t stage, double dense, double expert) const {
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
    window += parts_.forward[position_of(*job_.schedule, parts_.times.shape, stage, chunk)].total;
  }
  const double hidden =
      std::min(all - first, window / job_.framework->communication_slowdown.typical);
  return all - hidden;
}

void Parts::stage_end(std::uint32_t stage) {
  turn_to(stage);
  double dense = 0;
  double expert = 0;
  double tensors = 0;
  bool has_embedding = false;
  bool has_head = false;
  for (std::uint32_t chunk = 0; chunk < job_.chunks; ++chunk) {
    const auto position = position_of(*job_.schedule, parts_.times.shape, stage, chunk);
    for (const BlockRun& run : parts_.positions[position]) {
      dense += run.count * times_[run.block].dense_weights;
      expert += run.count * times_[run.block].expert_weights;
      tensors += run.count * times_[run.block].tensors;
      has_embedding = has_embedding || times_[run.block].role == BlockRole::embedding;
      has_head = has_head || times_[run.block].role == BlockRole::head;
    }
  }
  const double tied = blocks_.tied_weights / (job_.has_own_ranks() ? plan_.tensor : 1);
  if (has_embedding && has_head) dense -= tied;
  const Sharding sharding = plan_.sharding;
  const bool all_sharded = sharding == Sharding::parameters;
  double reduction = all_sharded ? 0 : exposed_reduction(stage, dense, expert);
  if (has_embedding != has_head && tied > 0) {
    reduction += collective_ns(embedding_axis(job_), CollectiveKind::all_reduce,
                               tied * job_.framework->reduce_bytes);
  }
  const bool collects = sharding == Sharding::optimizer || sharding == Sharding::gradients;
  parts_.gradients.push_back(to_whole(reduction));
  const ShardedPasses::ResidentCollection residents = resident_collection(stage);
  parts_.parameters.push_back(
      to_whole(collects ? exposed_collection(stage, dense, expert) : residents.gather));
  const double share = sharding == Sharding::none ? 1 : 1.0 / plan_.shards();
  const double expert_share =
      sharding == Sharding::none ? 1 : 1.0 / std::max(1U, expert_copies(plan_).size);
  const double updated = dense * share + expert * expert_share;
  if (const double recorded = recorded_update_ns(*job_.model); recorded > 0) {
    parts_.update.push_back(
        to_whole(updated * recorded * scale_[static_cast<std::size_t>(CostSource::recorded)] +
                 residents.host));
    return;
  }
  const double device = kernels_.move(updated * job_.framework->update_bytes, 10).ns *
                        scale_[static_cast<std::size_t>(CostSource::memory)];
  const double host = tensors * job_.framework->update_kernels *
                      job_.framework->host_kernel_ns.typical *
                      scale_[static_cast<std::size_t>(CostSource::host)];
  parts_.update.push_back(to_whole(std::max(device, host) + residents.host));
}

// Stages in the middle are mostly alike.
bool Parts::is_as_before(std::uint32_t stage) const {
  if (stage == 0 || stage_plan(job_, stage) != stage_plan(job_, stage - 1)) return false;
  for (std::uint32_t chunk = 0; chunk < job_.chunks; ++chunk) {
    const ScheduleShape& shape = parts_.times.shape;
    if (parts_.positions[position_of(*job_.schedule, shape, stage, chunk)] !=
        parts_.positions[position_of(*job_.schedule, shape, stage - 1, chunk)]) {
      return false;
    }
  }
  return true;
}

void Parts::repeat_stage() {
  parts_.gradients.push_back(parts_.gradients.back());
  parts_.parameters.push_back(parts_.parameters.back());
  parts_.update.push_back(parts_.update.back());
}

void Parts::repeat_position() {
  PipelineTimes& times = parts_.times;
  parts_.forward.push_back(parts_.forward.back());
  parts_.backward.push_back(parts_.backward.back());
  times.forward.push_back(times.forward.back());
  times.backward.push_back(times.backward.back());
  if (job_.schedule->splits_backward) times.weights.push_back(times.weights.back());
}

bool Parts::is_passed_as_before(std::uint32_t position) const {
  return passes_are_alike() && parts_.positions[position] == parts_.positions[position - 1] &&
         blocked_ns(position, true) == blocked_ns(position - 1, true) &&
         blocked_ns(position, false) == blocked_ns(position - 1, false);
}

void Parts::add_position(std::uint32_t position) {
  turn_to(stage_of(*job_.schedule, parts_.times.shape, position));
  const Runs& runs = parts_.positions[position];
  PipelineTimes& times = parts_.times;
  const bool all_sharded = plan_.sharding == Sharding::parameters;
  const auto timed = [&](bool backward) {
    return all_sharded ? sharded().pass(runs, backward) : plain_pass(times_, runs, backward);
  };
  parts_.forward.push_back(timed(false));
  if (job_.trains()) {
    parts_.backward.push_back(timed(true));
  } else {
    parts_.backward.emplace_back();
  }
  for (const bool forward : {true, false}) {
    const double send = blocked_ns(position, forward);
    if (!(send > 0) || (!forward && !job_.trains())) continue;
    PassTime& pass = forward ? parts_.forward.back() : parts_.backward.back();
    pass.total += send;
    pass.exposed[static_cast<std::size_t>(Axis::pipeline)] += send;
  }
  times.forward.push_back(to_whole(parts_.forward.back().total));
  times.backward.push_back(to_whole(parts_.backward.back().total));
  if (!job_.schedule->splits_backward) return;
  double weights = 0;
  for (const BlockRun& run : runs) weights += run.count * times_[run.block].weights.total;
  times.weights.push_back(to_whole(weights));
}

Result<StepParts> Parts::all() {
  const ParallelPlan& plan = job_.plan;
  parts_.times.shape = {plan.pipeline, job_.micro_batches(), job_.chunks};
  parts_.positions = partition(blocks_.order, times_, layers_by_position(job_));
  const auto positions = static_cast<std::uint32_t>(parts_.positions.size());
  parts_.forward.reserve(positions);
  parts_.backward.reserve(positions);
  add_sends();
  for (std::uint32_t i = 0; i < positions; ++i) {
    if (i > 0 && is_passed_as_before(i)) {
      repeat_position();
    } else {
      add_position(i);
    }
  }
  for (std::uint32_t stage = 0; job_.trains() && stage < plan.pipeline; ++stage) {
    if (is_as_before(stage)) {
      repeat_stage();
    } else {
      stage_end(stage);
    }
  }
  FORETRACE_TRY(check_times(parts_));
  return std::move(parts_);
}

}  // namespace

Result<StepParts> step_parts(const Job& job, const JobBlocks& blocks,
                             const std::vector<BlockTimes>& times, const SourceScale& scale) {
  return Parts(job, blocks, times, scale).all();
}

}  // namespace foretrace
