// Times of positions, of sends and of what a step ends with.
#include <algorithm>
#include <cmath>

#include "models/collectives/collective_costs.h"
#include "models/program/estimate.h"
#include "models/program/two_lanes.h"

namespace foretrace {
namespace {

// Elements of a bucket of gradients: 40 million, or one million per rank
// (Megatron-LM, param_and_grad_buffer.py).
constexpr double bucket_elements = 40e6;
constexpr double bucket_elements_per_rank = 1e6;

class Parts {
 public:
  Parts(const Job& job, const JobBlocks& blocks, const std::vector<BlockTimes>& times,
        const SourceScale& scale)
      : job_(job),
        blocks_(blocks),
        times_(times),
        scale_(scale),
        kernels_(*job.cluster, *job.framework, job.precisions) {}

  [[nodiscard]] StepParts all();

 private:
  using Runs = std::vector<BlockRun>;
  [[nodiscard]] double collective_ns(const GridAxis& axis, CollectiveKind kind, double bytes) const;
  [[nodiscard]] double gather_ns(const BlockTimes& block) const;
  [[nodiscard]] double scatter_ns(const BlockTimes& block) const;
  [[nodiscard]] std::vector<double> of_blocks(double (Parts::*ns)(const BlockTimes&) const) const;
  [[nodiscard]] double move_ns(const BlockTimes& block, double bytes) const;
  [[nodiscard]] PassTime plain(const Runs& runs, bool backward) const;
  [[nodiscard]] PassTime sharded(const Runs& runs, bool backward) const;
  [[nodiscard]] double send_ns() const;
  [[nodiscard]] static std::vector<std::uint32_t> expanded(const Runs& runs);
  void add_position(const Runs& runs, double send);
  void repeat_position();
  void stage_end(std::uint32_t stage);
  [[nodiscard]] bool is_as_before(std::uint32_t stage) const;
  void repeat_stage();
  [[nodiscard]] double reduction_ns(double dense, double expert);
  [[nodiscard]] bool states_gradients() const;
  [[nodiscard]] double gradient_ns(const GradientExchange& stated) const;
  [[nodiscard]] double stated_reduction(std::uint32_t stage) const;
  [[nodiscard]] double exposed_reduction(std::uint32_t stage, double dense, double expert);
  [[nodiscard]] double exposed_collection(std::uint32_t stage, double dense, double expert) const;

  const Job& job_;
  const JobBlocks& blocks_;
  const std::vector<BlockTimes>& times_;
  const SourceScale& scale_;
  KernelTimes kernels_;
  StepParts parts_;
  // Buckets of gradients are mostly alike: the last one.
  double bucket_dense_ = -1;
  double bucket_expert_ = -1;
  double bucket_ns_ = 0;
};

double Parts::collective_ns(const GridAxis& axis, CollectiveKind kind, double bytes) const {
  const Placement group = place(*job_.cluster, axis);
  const double ns = collective_time(*job_.cluster, {kind, bytes, group}).ns;
  return ns * scale_[static_cast<std::size_t>(group.nodes > 1 ? CostSource::network
                                                              : CostSource::local)];
}

// Sharded parameters of a block come together.
double Parts::gather_ns(const BlockTimes& block) const {
  const double bytes = job_.framework->gather_bytes;
  return collective_ns(shard_axis(job_.plan), CollectiveKind::all_gather,
                       block.dense_weights * bytes) +
         collective_ns(expert_copies(job_.plan), CollectiveKind::all_gather,
                       block.expert_weights * bytes);
}

// Gradients of a block are added up and divided; copies of the shards add up theirs.
double Parts::scatter_ns(const BlockTimes& block) const {
  const double bytes = job_.framework->reduce_bytes;
  const GridAxis replicas = replica_axis(job_.plan);
  return collective_ns(shard_axis(job_.plan), CollectiveKind::reduce_scatter,
                       block.dense_weights * bytes) +
         collective_ns(replicas, CollectiveKind::all_reduce,
                       block.dense_weights * bytes / job_.plan.shards()) +
         collective_ns(expert_copies(job_.plan), CollectiveKind::reduce_scatter,
                       block.expert_weights * bytes);
}

double Parts::move_ns(const BlockTimes& block, double bytes) const {
  return kernels_.move((block.dense_weights + block.expert_weights) * bytes, 1).ns *
         scale_[static_cast<std::size_t>(CostSource::memory)];
}

std::vector<std::uint32_t> Parts::expanded(const Runs& runs) {
  std::vector<std::uint32_t> blocks;
  for (const BlockRun& run : runs) blocks.insert(blocks.end(), run.count, run.block);
  return blocks;
}

std::vector<double> Parts::of_blocks(double (Parts::*ns)(const BlockTimes&) const) const {
  std::vector<double> values;
  values.reserve(times_.size());
  for (const BlockTimes& block : times_) values.push_back((this->*ns)(block));
  return values;
}

PassTime Parts::plain(const Runs& runs, bool backward) const {
  PassTime sum;
  for (const BlockRun& run : runs) {
    const BlockTimes& block = times_[run.block];
    sum.add(backward ? block.backward : block.forward, run.count);
  }
  return sum;
}

// Parameters of the next blocks are collected while one runs; gradients go while the block before
// it runs backward.
PassTime Parts::sharded(const Runs& runs, bool backward) const {
  std::vector<std::uint32_t> blocks = expanded(runs);
  if (backward) std::reverse(blocks.begin(), blocks.end());
  const std::vector<double> gather = of_blocks(&Parts::gather_ns);
  const std::vector<double> scatter = of_blocks(&Parts::scatter_ns);
  PassTime sum = plain(runs, backward);
  const bool gathers = !backward || job_.framework->reshards_after_forward;
  TwoLanes lanes(job_.framework->communication_slowdown.typical);
  const double slowed = job_.framework->product_slowdown.typical;
  std::vector<std::uint32_t> numbers(blocks.size());
  std::size_t asked = 0;
  double copied = 0;
  const auto ask_up_to = [&](std::size_t last) {
    for (; gathers && asked <= last && asked < blocks.size(); ++asked) {
      numbers[asked] = lanes.start(gather[blocks[asked]]);
    }
  };
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    ask_up_to(i);
    if (gathers) static_cast<void>(lanes.wait(numbers[i]));
    ask_up_to(i + job_.framework->prefetch);
    const BlockTimes& block = times_[blocks[i]];
    const double unpack = gathers ? move_ns(block, job_.framework->unpack_bytes) : 0;
    const double pack = backward ? move_ns(block, job_.framework->pack_bytes) : 0;
    lanes.compute((backward ? block.backward : block.forward).total, slowed);
    lanes.compute(unpack + pack);
    copied += unpack + pack;
    if (backward) static_cast<void>(lanes.start(scatter[blocks[i]]));
  }
  static_cast<void>(lanes.wait_all());
  sum.computed[static_cast<std::size_t>(CostSource::memory)] += copied;
  sum.exposed[static_cast<std::size_t>(Axis::data)] += lanes.now() - sum.total - copied;
  sum.overlapped += lanes.overlapped();
  sum.total = lanes.now();
  return sum;
}

double Parts::send_ns() const {
  const ParallelPlan& plan = job_.plan;
  if (plan.pipeline <= 1) return 0;
  const GridAxis axis = axis_of(plan, Axis::pipeline);
  const bool parts = plan.tensor > 1 && (plan.sequence || job_.framework->scatters_sends);
  double ns =
      collective_ns(axis, CollectiveKind::send, blocks_.hidden_bytes / (parts ? plan.tensor : 1));
  if (parts && !plan.sequence) {
    ns += collective_ns(axis_of(plan, Axis::tensor), CollectiveKind::all_gather,
                        blocks_.hidden_bytes);
  }
  return ns;
}

double Parts::reduction_ns(double dense, double expert) {
  if (dense == bucket_dense_ && expert == bucket_expert_) return bucket_ns_;
  const CollectiveKind kind = job_.plan.sharding == Sharding::none ? CollectiveKind::all_reduce
                                                                   : CollectiveKind::reduce_scatter;
  const double bytes = job_.framework->reduce_bytes;
  bucket_dense_ = dense;
  bucket_expert_ = expert;
  bucket_ns_ = collective_ns(axis_of(job_.plan, Axis::data), kind, dense * bytes) +
               collective_ns(expert_copies(job_.plan), kind, expert * bytes);
  return bucket_ns_;
}

bool Parts::states_gradients() const {
  return std::any_of(times_.begin(), times_.end(),
                     [](const BlockTimes& block) { return !block.gradients.empty(); });
}

double Parts::gradient_ns(const GradientExchange& stated) const {
  const Exchange& exchange = stated.exchange;
  const GridAxis axis =
      stated.among_expert_copies ? expert_copies(job_.plan) : axis_of(job_.plan, exchange.axis);
  const double ns = collective_ns(axis, exchange.kind, exchange.bytes);
  return ns > 0 ? ns + exchange.delay_ns : 0;
}

// Recorded layers have collectives of their own: each starts when its layer is done.
double Parts::stated_reduction(std::uint32_t stage) const {
  TwoLanes lanes(job_.framework->communication_slowdown.typical);
  double computed = 0;
  for (std::uint32_t chunk = job_.chunks; chunk-- > 0;) {
    const std::uint32_t position = position_of(*job_.schedule, parts_.times.shape, stage, chunk);
    const std::vector<std::uint32_t> blocks = expanded(parts_.positions[position]);
    for (std::size_t i = blocks.size(); i-- > 0;) {
      const BlockTimes& block = times_[blocks[i]];
      lanes.compute(block.backward.total, job_.framework->product_slowdown.typical);
      computed += block.backward.total;
      for (const GradientExchange& stated : block.gradients) {
        if (const double ns = gradient_ns(stated); ns > 0) static_cast<void>(lanes.start(ns));
      }
    }
  }
  static_cast<void>(lanes.wait_all());
  return lanes.now() - computed;
}

// Buckets leave while the last micro-batch runs backward.
double Parts::exposed_reduction(std::uint32_t stage, double dense, double expert) {
  if (states_gradients()) return stated_reduction(stage);
  if (!job_.framework->overlaps_gradients) return reduction_ns(dense, expert);
  const double bucket = std::max(bucket_elements, bucket_elements_per_rank * job_.plan.copies());
  TwoLanes lanes(job_.framework->communication_slowdown.typical);
  double waiting_dense = 0;
  double waiting_expert = 0;
  double computed = 0;
  const auto flush = [&] {
    static_cast<void>(lanes.start(reduction_ns(waiting_dense, waiting_expert)));
    waiting_dense = waiting_expert = 0;
  };
  for (std::uint32_t chunk = job_.chunks; chunk-- > 0;) {
    const std::uint32_t position = position_of(*job_.schedule, parts_.times.shape, stage, chunk);
    const std::vector<std::uint32_t> blocks = expanded(parts_.positions[position]);
    for (std::size_t i = blocks.size(); i-- > 0;) {
      const BlockTimes& block = times_[blocks[i]];
      lanes.compute(block.backward.total, job_.framework->product_slowdown.typical);
      computed += block.backward.total;
      waiting_dense += block.dense_weights;
      waiting_expert += block.expert_weights;
      if (waiting_dense + waiting_expert >= bucket) flush();
    }
  }
  if (waiting_dense + waiting_expert > 0) flush();
  static_cast<void>(lanes.wait_all());
  return lanes.now() - computed;
}

double Parts::exposed_collection(std::uint32_t stage, double dense, double expert) const {
  const double bytes = job_.framework->gather_bytes;
  const double all =
      collective_ns(axis_of(job_.plan, Axis::data), CollectiveKind::all_gather, dense * bytes) +
      collective_ns(expert_copies(job_.plan), CollectiveKind::all_gather, expert * bytes);
  if (!job_.framework->overlaps_parameters || !(all > 0)) return all;
  // The first bucket has nothing to hide behind, the others have the first forward pass.
  const double bucket = std::max(bucket_elements, bucket_elements_per_rank * job_.plan.copies());
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
  if (has_embedding && has_head) dense -= blocks_.tied_weights;
  const Sharding sharding = job_.plan.sharding;
  const bool all_sharded = sharding == Sharding::parameters;
  double reduction = all_sharded ? 0 : exposed_reduction(stage, dense, expert);
  if (has_embedding != has_head && blocks_.tied_weights > 0) {
    reduction += collective_ns(axis_of(job_.plan, Axis::embedding), CollectiveKind::all_reduce,
                               blocks_.tied_weights * job_.framework->reduce_bytes);
  }
  const bool collects = sharding == Sharding::optimizer || sharding == Sharding::gradients;
  parts_.gradients.push_back(std::llround(reduction));
  parts_.parameters.push_back(collects ? std::llround(exposed_collection(stage, dense, expert))
                                       : 0);
  const double share = sharding == Sharding::none ? 1 : 1.0 / job_.plan.shards();
  const double expert_share =
      sharding == Sharding::none ? 1 : 1.0 / std::max(1U, expert_copies(job_.plan).size);
  const double updated = dense * share + expert * expert_share;
  const double device = kernels_.move(updated * job_.framework->update_bytes, 10).ns *
                        scale_[static_cast<std::size_t>(CostSource::memory)];
  const double host = tensors * job_.framework->update_kernels *
                      job_.framework->host_kernel_ns.typical *
                      scale_[static_cast<std::size_t>(CostSource::host)];
  parts_.update.push_back(std::llround(std::max(device, host)));
}

// Stages in the middle are mostly alike.
bool Parts::is_as_before(std::uint32_t stage) const {
  if (stage == 0) return false;
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

void Parts::add_position(const Runs& runs, double send) {
  PipelineTimes& times = parts_.times;
  const bool all_sharded = job_.plan.sharding == Sharding::parameters && job_.plan.shards() > 1;
  parts_.forward.push_back(all_sharded ? sharded(runs, false) : plain(runs, false));
  if (job_.trains()) {
    parts_.backward.push_back(all_sharded ? sharded(runs, true) : plain(runs, true));
  } else {
    parts_.backward.emplace_back();
  }
  for (PassTime* pass : {&parts_.forward.back(), &parts_.backward.back()}) {
    const bool is_there = pass == &parts_.forward.back() || job_.trains();
    if (!job_.framework->sends_block || !(send > 0) || !is_there) continue;
    pass->total += send;
    pass->exposed[static_cast<std::size_t>(Axis::pipeline)] += send;
  }
  times.forward.push_back(std::llround(parts_.forward.back().total));
  times.backward.push_back(std::llround(parts_.backward.back().total));
  if (!job_.schedule->splits_backward) return;
  double weights = 0;
  for (const BlockRun& run : runs) weights += run.count * times_[run.block].weights.total;
  times.weights.push_back(std::llround(weights));
}

StepParts Parts::all() {
  const ParallelPlan& plan = job_.plan;
  PipelineTimes& times = parts_.times;
  times.shape = {plan.pipeline, job_.micro_batches(), job_.chunks};
  const std::uint32_t positions = plan.pipeline * job_.chunks;
  parts_.positions = partition(blocks_.order, times_, positions);
  parts_.forward.reserve(positions);
  parts_.backward.reserve(positions);
  const double send = send_ns();
  for (std::size_t i = 0; i < parts_.positions.size(); ++i) {
    if (i > 0 && parts_.positions[i] == parts_.positions[i - 1]) {
      repeat_position();
    } else {
      add_position(parts_.positions[i], send);
    }
  }
  const std::int64_t latency = job_.framework->sends_block ? 0 : std::llround(send);
  times.send_forward.assign(positions > 0 ? positions - 1 : 0, latency);
  times.send_backward.assign(positions > 0 ? positions - 1 : 0, job_.trains() ? latency : 0);
  for (std::uint32_t stage = 0; job_.trains() && stage < plan.pipeline; ++stage) {
    if (is_as_before(stage)) {
      repeat_stage();
    } else {
      stage_end(stage);
    }
  }
  return std::move(parts_);
}

}  // namespace

StepParts step_parts(const Job& job, const JobBlocks& blocks, const std::vector<BlockTimes>& times,
                     const SourceScale& scale) {
  return Parts(job, blocks, times, scale).all();
}

}  // namespace foretrace
