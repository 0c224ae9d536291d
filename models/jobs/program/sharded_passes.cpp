#include "models/jobs/program/sharded_passes.h"

#include <algorithm>

#include "models/jobs/program/gradient_sum.h"
#include "models/jobs/program/left_over.h"

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
  const auto add = [&](const BlockRun& run) {
    const RankProgram::Block& block = blocks[run.block];
    sum.add((backward ? block.backward : block.forward).time, run.count);
  };
  if (backward) {
    std::for_each(runs.rbegin(), runs.rend(), add);
  } else {
    std::for_each(runs.begin(), runs.end(), add);
  }
  return sum;
}

double ShardedPasses::collective_ns(const GridAxis& axis, CollectiveKind kind, double bytes) const {
  return scaled_collective_ns(*job_.cluster, axis, {kind, bytes, {}}, scale_);
}

double ShardedPasses::moved_ns(double bytes, std::uint32_t kernels) const {
  return kernels_.move(bytes, kernels).ns * scale_[static_cast<std::size_t>(CostSource::memory)];
}

PassTime ShardedPasses::pass(std::span<const BlockRun> runs, bool backward, bool keeps_last) const {
  return job_.framework->travel.by_tensor ? tensor_by_tensor(runs, backward)
                                          : block_by_block(runs, backward, keeps_last);
}

double ShardedPasses::collected_ns(std::span<const BlockRun> runs) const {
  return left_over(pass(runs, false).total, plain_pass(blocks_, runs, false).total);
}

double ShardedPasses::divided_ns(std::span<const BlockRun> runs) const {
  double sum = 0;
  for (const BlockRun& run : runs) {
    const RankProgram::Block& block = blocks_[run.block];
    const double weights = block.dense_weights + block.expert_weights;
    sum += run.count * (scatter_ns(block.dense_weights, block.expert_weights) +
                        moved_ns(weights * job_.framework->pack_bytes));
  }
  return sum;
}

// Sharded parameters come together.
double ShardedPasses::gather_ns(double elements, const GridAxis& shards) const {
  return collective_ns(shards, CollectiveKind::all_gather, elements * job_.framework->gather_bytes);
}

double ShardedPasses::scatter_ns(double dense, double expert) const {
  const double bytes = job_.framework->reduce_bytes;
  double ns = 0;
  for (const GradientSum& sum : gradient_sums(plan_, dense * bytes, expert * bytes)) {
    ns += collective_ns(sum.axis, sum.kind, sum.bytes);
  }
  return ns;
}

// Ends when all that was started has; what neither `sum` nor `beside` explains was waited for.
PassTime ShardedPasses::waited_for(TwoLanes& lanes, PassTime sum, double beside) {
  static_cast<void>(lanes.wait_all());
  sum.exposed[static_cast<std::size_t>(Axis::data)] += left_over(lanes.now(), sum.total + beside);
  sum.overlapped += lanes.overlapped();
  sum.total = lanes.now();
  return sum;
}

// Parameters of the next blocks are collected while one runs; gradients go while the block before
// it runs backward.
PassTime ShardedPasses::block_by_block(std::span<const BlockRun> runs, bool backward,
                                       bool keeps_last) const {
  std::vector<std::uint32_t> blocks = expanded(runs);
  if (backward) std::reverse(blocks.begin(), blocks.end());
  std::vector<double> gather;
  std::vector<double> scatter;
  for (const RankProgram::Block& block : blocks_) {
    gather.push_back(gather_ns(block.dense_weights + block.frozen_weights, dense_) +
                     gather_ns(block.expert_weights, expert_));
    scatter.push_back(scatter_ns(block.dense_weights, block.expert_weights));
  }
  PassTime sum = plain_pass(blocks_, runs, backward);
  const bool gathers = !backward || job_.framework->reshards_after_forward;
  const auto is_collected = [&](std::size_t at) {
    return gathers && !(backward && keeps_last && at == 0) &&
           blocks_[blocks[at]].collected_weights() > 0;
  };
  TwoLanes lanes(job_.framework->communication_slowdown.typical);
  const double slowed = job_.framework->product_slowdown.typical;
  std::vector<std::uint32_t> numbers(blocks.size());
  std::size_t asked = 0;
  double copied = 0;
  // Of a device that only the host keeps waiting: when all was launched, computed, and divided.
  double launched = 0;
  double computed = 0;
  double divided = 0;
  std::size_t ahead = 0;  // blocks behind the one that runs: asked for
  const auto ask = [&](std::size_t block, std::size_t most) {
    for (; gathers && asked < blocks.size() && (asked <= block || ahead < most); ++asked) {
      if (!is_collected(asked)) continue;
      if (asked > block) ++ahead;
      numbers[asked] = lanes.start(gather[blocks[asked]]);
    }
  };
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i < asked && is_collected(i)) --ahead;
    ask(i, 0);
    if (is_collected(i)) static_cast<void>(lanes.wait(numbers[i]));
    ask(i, job_.framework->prefetch);
    const RankProgram::Block& block = blocks_[blocks[i]];
    const double weights = block.dense_weights + block.expert_weights;
    const double unpack =
        is_collected(i) ? moved_ns(block.collected_weights() * job_.framework->unpack_bytes) : 0;
    const double pack = backward ? moved_ns(weights * job_.framework->pack_bytes) : 0;
    const PassTime& own = (backward ? block.backward : block.forward).time;
    lanes.compute(own.total, slowed);
    lanes.compute(unpack + pack);
    launched += own.launching;
    computed = std::max(computed + own.total, launched + own.rest) + unpack + pack;
    divided = std::max(divided, computed) + (backward ? scatter[blocks[i]] : 0);
    copied += unpack + pack;
    if (backward) static_cast<void>(lanes.start(scatter[blocks[i]]));
  }
  sum.computed[static_cast<std::size_t>(CostSource::memory)] += copied;
  sum = waited_for(lanes, sum, copied);
  sum.rest = std::max(0.0, divided - launched);
  return sum;
}

// What the host does for so many parts of collectives of lists.
double ShardedPasses::host_of_parts(double parts, double ns) const {
  return parts * ns * scale_[static_cast<std::size_t>(CostSource::host)];
}

TensorUse ShardedPasses::use_of(double elements, bool is_expert, bool is_there,
                                bool reduces) const {
  const Framework& framework = *job_.framework;
  const GridAxis& shards = is_expert ? expert_ : dense_;
  TensorUse use;
  use.elements = elements;
  const std::uint32_t parts = shards.size;
  use.views = host_of_parts(parts, framework.travel.host_per_view_ns);
  use.copies = host_of_parts(parts, framework.travel.host_per_copy_ns);
  if (!is_there) {
    const std::uint32_t kernels = 1 + (use.copies > 0 ? parts : 0);
    use.gather = gather_ns(elements, shards) + moved_ns(elements * framework.unpack_bytes, kernels);
  }
  if (reduces) {
    use.scatter = (is_expert ? scatter_ns(0, elements) : scatter_ns(elements, 0)) +
                  moved_ns(elements * framework.pack_bytes);
  }
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
    TensorUse made = use_of(elements, false, is_there || stays(elements), reduces);
    if (!stays(elements)) made.computed = time * elements / traveling;
    uses.push_back(made);
  };
  if (again > 0 || !backward) {
    for (const double n : tensors) use(n, backward ? again : own, is_kept, false);
  }
  // Tensors of experts go together.
  if (block.expert_weights > 0) {
    uses.push_back(use_of(block.expert_weights, true, is_kept, backward));
  }
  if (!(traveling > 0)) uses.push_back({0, own + again, 0, 0, 0});
  if (!backward) return;
  const std::vector<bool> stay = stay_for_backward(tensors, travel.reuse_elements);
  for (std::size_t i = tensors.size(); i-- > 0;) {
    use(tensors[i], own, is_kept || (again > 0 && stay[i]), true);
  }
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
  PassTime sum = plain_pass(blocks_, runs, backward);
  sum.host_waits += host;
  sum.launching += host;  // the same thread
  return waited_for(lanes, sum, host);
}

// The host puts the parts of each tensor in their places: a view of either and a copy.
ShardedPasses::ResidentCollection ShardedPasses::resident_collection(
    const RankProgram::Stage& stage) const {
  if (!(stage.resident > 0)) return {};
  const ShardTravel& travel = job_.framework->travel;
  return {
      gather_ns(stage.resident, dense_),
      host_of_parts(stage.resident_parts, 2 * travel.host_per_view_ns + travel.host_per_copy_ns)};
}

}  // namespace foretrace
