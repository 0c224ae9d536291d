#include "models/jobs/program/sharded_passes.h"

#include <algorithm>

#include "models/jobs/program/left_over.h"
#include "models/jobs/times/two_lanes.h"

namespace foretrace {

double scaled_collective_ns(const Cluster& cluster, const GridAxis& axis, CollectiveCall call,
                            const SourceScale& scale) {
  call.group = place(cluster, axis);
  return placed_collective_ns(cluster, call, scale);
}

double placed_collective_ns(const Cluster& cluster, const CollectiveCall& call,
                            const SourceScale& scale) {
  const CostSource source = call.group.nodes > 1 ? CostSource::network : CostSource::local;
  return collective_time(cluster, call).ns * scale[static_cast<std::size_t>(source)];
}

std::vector<std::uint32_t> expanded(std::span<const BlockRun> runs) {
  std::vector<std::uint32_t> blocks;
  for (const BlockRun& run : runs) blocks.insert(blocks.end(), run.count, run.block);
  return blocks;
}

PassTime plain_pass(const std::vector<RankProgram::Block>& blocks, std::span<const BlockRun> runs,
                    bool backward) {
  PassTime sum;
  for (const BlockRun& run : runs) {
    const RankProgram::Block& block = blocks[run.block];
    sum.add((backward ? block.backward : block.forward).time, run.count);
  }
  return sum;
}

double ShardedPasses::collective_ns(const GridAxis& axis, CollectiveKind kind, double bytes) const {
  return scaled_collective_ns(*job_.cluster, axis, {kind, bytes, {}}, scale_);
}

double ShardedPasses::moved_ns(double bytes) const {
  return kernels_.move(bytes, 1).ns * scale_[static_cast<std::size_t>(CostSource::memory)];
}

double ShardedPasses::move_ns(const RankProgram::Block& block, double bytes) const {
  return moved_ns((block.dense_weights + block.expert_weights) * bytes);
}

PassTime ShardedPasses::pass(std::span<const BlockRun> runs, bool backward) const {
  return job_.framework->travel.by_tensor ? tensor_by_tensor(runs, backward)
                                          : block_by_block(runs, backward);
}

// Sharded parameters of a block come together.
double ShardedPasses::gather_ns(const RankProgram::Block& block) const {
  const double bytes = job_.framework->gather_bytes;
  return collective_ns(shard_axis(plan_), CollectiveKind::all_gather, block.dense_weights * bytes) +
         collective_ns(expert_copies(plan_), CollectiveKind::all_gather,
                       block.expert_weights * bytes);
}

// Gradients of a block are added up and divided; copies of the shards add up theirs.
double ShardedPasses::scatter_ns(const RankProgram::Block& block) const {
  const double bytes = job_.framework->reduce_bytes;
  const GridAxis replicas = replica_axis(plan_);
  return collective_ns(shard_axis(plan_), CollectiveKind::reduce_scatter,
                       block.dense_weights * bytes) +
         collective_ns(replicas, CollectiveKind::all_reduce,
                       block.dense_weights * bytes / plan_.shards()) +
         collective_ns(expert_copies(plan_), CollectiveKind::reduce_scatter,
                       block.expert_weights * bytes);
}

std::vector<double> ShardedPasses::of_blocks(double (ShardedPasses::*ns)(const RankProgram::Block&)
                                                 const) const {
  std::vector<double> values;
  values.reserve(blocks_.size());
  for (const RankProgram::Block& block : blocks_) values.push_back((this->*ns)(block));
  return values;
}

// Parameters of the next blocks are collected while one runs; gradients go while the block before
// it runs backward.
PassTime ShardedPasses::block_by_block(std::span<const BlockRun> runs, bool backward) const {
  std::vector<std::uint32_t> blocks = expanded(runs);
  if (backward) std::reverse(blocks.begin(), blocks.end());
  const std::vector<double> gather = of_blocks(&ShardedPasses::gather_ns);
  const std::vector<double> scatter = of_blocks(&ShardedPasses::scatter_ns);
  PassTime sum = plain_pass(blocks_, runs, backward);
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
    const RankProgram::Block& block = blocks_[blocks[i]];
    const double unpack = gathers ? move_ns(block, job_.framework->unpack_bytes) : 0;
    const double pack = backward ? move_ns(block, job_.framework->pack_bytes) : 0;
    lanes.compute((backward ? block.backward : block.forward).time.total, slowed);
    lanes.compute(unpack + pack);
    copied += unpack + pack;
    if (backward) static_cast<void>(lanes.start(scatter[blocks[i]]));
  }
  static_cast<void>(lanes.wait_all());
  sum.computed[static_cast<std::size_t>(CostSource::memory)] += copied;
  sum.exposed[static_cast<std::size_t>(Axis::data)] += left_over(lanes.now(), sum.total + copied);
  sum.overlapped += lanes.overlapped();
  sum.total = lanes.now();
  return sum;
}

// What the host does for a collective of a list with a part for each rank.
double ShardedPasses::host_of_collective(const GridAxis& axis) const {
  return job_.framework->travel.host_per_rank_ns * axis.size *
         scale_[static_cast<std::size_t>(CostSource::host)];
}

TensorUse ShardedPasses::tensor_use(double elements, bool is_there, bool reduces) const {
  const Framework& framework = *job_.framework;
  TensorUse use;
  use.elements = elements;
  use.host = host_of_collective(shard_axis(plan_));
  if (!is_there) {
    use.gather = collective_ns(shard_axis(plan_), CollectiveKind::all_gather,
                               elements * framework.gather_bytes) +
                 moved_ns(elements * framework.unpack_bytes);
  }
  if (!reduces) return use;
  const double bytes = elements * framework.reduce_bytes;
  use.scatter =
      collective_ns(shard_axis(plan_), CollectiveKind::reduce_scatter, bytes) +
      collective_ns(replica_axis(plan_), CollectiveKind::all_reduce, bytes / plan_.shards()) +
      moved_ns(elements * framework.pack_bytes);
  return use;
}

// Uses of a block's tensors, in order: forward, or recomputed and then backward. A tensor's share
// of the time is that of its elements, as a product's arithmetic goes by them.
void ShardedPasses::add_uses(const RankProgram::Block& block, bool backward,
                             std::vector<TensorUse>& uses) const {
  const ShardTravel& travel = job_.framework->travel;
  const std::vector<double>& tensors = block.traveling;
  const auto stays = [&](double elements) { return elements < travel.resident_elements; };
  double traveling = 0;
  for (const double n : tensors) traveling += stays(n) ? 0 : n;
  // Without resharding all is there that the forward pass has used.
  const bool is_kept = backward && !job_.framework->reshards_after_forward;
  const bool repeats = backward && job_.recompute == Recompute::full;
  const double again = repeats ? block.backward.time.again : 0;
  const double own = (backward ? block.backward.time.total : block.forward.time.total) - again;
  const auto use = [&](double elements, double time, bool is_there, bool reduces) {
    TensorUse made = tensor_use(elements, is_there || stays(elements), reduces);
    if (!stays(elements)) made.computed = time * elements / traveling;
    uses.push_back(made);
  };
  if (again > 0 || !backward) {
    for (const double n : tensors) use(n, backward ? again : own, is_kept, false);
  }
  if (block.expert_weights > 0) uses.push_back(expert_use(block, backward));
  if (!(traveling > 0)) uses.push_back({0, own + again, 0, 0, 0});
  if (!backward) return;
  const std::vector<bool> stay = stay_for_backward(tensors, travel.reuse_elements);
  for (std::size_t i = tensors.size(); i-- > 0;) {
    use(tensors[i], own, is_kept || (again > 0 && stay[i]), true);
  }
}

// Tensors of experts go together.
TensorUse ShardedPasses::expert_use(const RankProgram::Block& block, bool backward) const {
  const GridAxis copies = expert_copies(plan_);
  const Framework& framework = *job_.framework;
  const double n = block.expert_weights;
  TensorUse use;
  use.elements = n;
  use.host = host_of_collective(copies);
  if (!backward || framework.reshards_after_forward) {
    use.gather = collective_ns(copies, CollectiveKind::all_gather, n * framework.gather_bytes) +
                 moved_ns(n * framework.unpack_bytes);
  }
  if (!backward) return use;
  use.scatter = collective_ns(copies, CollectiveKind::reduce_scatter, n * framework.reduce_bytes) +
                moved_ns(n * framework.pack_bytes);
  return use;
}

PassTime ShardedPasses::tensor_by_tensor(std::span<const BlockRun> runs, bool backward) const {
  std::vector<std::vector<TensorUse>> by_block(blocks_.size());
  std::vector<TensorUse> uses;
  std::vector<std::uint32_t> blocks = expanded(runs);
  if (backward) std::reverse(blocks.begin(), blocks.end());
  for (const std::uint32_t block : blocks) {
    std::vector<TensorUse>& own = by_block[block];
    if (own.empty()) add_uses(blocks_[block], backward, own);
    uses.insert(uses.end(), own.begin(), own.end());
  }
  TwoLanes lanes(job_.framework->communication_slowdown.typical);
  const double host =
      run_tensors(uses, job_.framework->travel, job_.framework->product_slowdown.typical, lanes);
  static_cast<void>(lanes.wait_all());
  PassTime sum = plain_pass(blocks_, runs, backward);
  sum.host_bound += host;
  sum.exposed[static_cast<std::size_t>(Axis::data)] += left_over(lanes.now(), sum.total + host);
  sum.overlapped += lanes.overlapped();
  sum.total = lanes.now();
  return sum;
}

// The host puts the parts of each tensor in their places.
ShardedPasses::ResidentCollection ShardedPasses::resident_collection(
    const RankProgram::Stage& stage) const {
  if (!(stage.resident > 0)) return {};
  const GridAxis axis = shard_axis(plan_);
  return {collective_ns(axis, CollectiveKind::all_gather,
                        stage.resident * job_.framework->gather_bytes),
          stage.resident_parts / axis.size * host_of_collective(axis)};
}

}  // namespace foretrace
