// What a rank does at the end of a step: gradients are added up, parameters updated and collected.
#include <algorithm>

#include "models/hardware/collectives/collective_costs.h"
#include "models/jobs/program/gradient_sum.h"
#include "models/jobs/program/graphs/rank_builder.h"
#include "models/jobs/program/sharded_passes.h"

namespace foretrace {

// Of the node that was added last: also where gradients are sparse, or switches add them up.
void RankBuilder::take_sum_time(double bytes) {
  RankNode& node = nodes_.back();
  node.ns = gradient_sum_ns(job_, node.group, {node.collective, bytes, {}}, no_scale());
}

// Of what is divided among all copies; the weights of experts among theirs.
void RankBuilder::exchange(std::string_view name, CollectiveKind kind, const Amounts& bytes,
                           bool is_beside) {
  const auto one = [&](const GridAxis& group, double size) {
    if (group.size <= 1 || !(size > 0)) return;
    if (is_beside) {
      beside(name, kind, group, size);
    } else {
      chain(collective(name, kind, group, size));
    }
    if (kind != CollectiveKind::all_gather) take_sum_time(size);
  };
  // Each has what it updates: the share of its group. Gradients of all copies add up.
  const bool is_shared = shards_parameters() || kind == CollectiveKind::all_gather;
  one(is_shared ? shard_axis(plan_) : axis_of(plan_, Axis::data), bytes.dense);
  one(expert_copies(plan_), bytes.expert);
}

void RankBuilder::reduce_gradients(const Amounts& elements, bool is_beside) {
  const double bytes = job_.framework->reduce_bytes;
  exchange("reduce gradients",
           plan_.sharding == Sharding::none ? CollectiveKind::all_reduce
                                            : CollectiveKind::reduce_scatter,
           {elements.dense * bytes, elements.expert * bytes}, is_beside);
}

// Once per step, when the last micro-batch of a block has run backward: a recording's own
// collectives, or the bucket that the block fills.
void RankBuilder::gradients_of(const RankProgram::Block& block) {
  for (const Exchange& stated : block.gradients) {
    const GridAxis axis = gradient_axis(plan_, stated);
    if (axis.size <= 1 || !(stated.bytes > 0)) continue;
    beside("reduce gradients", stated.kind, axis, stated.bytes);
    take_sum_time(stated.bytes);
    nodes_.back().ns += stated.delay_ns;
  }
  if (shards_parameters() || !job_.framework->overlaps_gradients || program_.states_gradients()) {
    return;
  }
  const auto add = [this](double dense, double expert) {
    waiting_.dense += dense;
    waiting_.expert += expert;
    if (!buckets_.goes(waiting_.dense + waiting_.expert)) return;
    reduce_gradients(waiting_, true);
    waiting_ = {};
  };
  for (const double elements : block.ready) {
    ++ready_;
    add(elements, 0);
  }
  if (block.ready.empty()) add(block.dense_weights, block.expert_weights);
}

// What the update before this step has changed, as much of it as the first forward passes hide.
void RankBuilder::early_parameters() {
  const Amounts own = own_weights();
  const double early = job_.framework->gather_bytes * (1 - own_.late_share);
  exchange("collect parameters", CollectiveKind::all_gather,
           {own.dense * early, own.expert * early}, true);
  traveled_.reset();  // the passes do not wait for it
}

void RankBuilder::late_parameters() {
  const double bytes = job_.framework->gather_bytes;
  if (shards_parameters() && !keeps_collected(job_, plan_)) {
    if (!(own_.resident > 0)) return;
    chain(collective("collect parameters", CollectiveKind::all_gather, shard_axis(plan_),
                     own_.resident * bytes));
    return;
  }
  if (plan_.sharding == Sharding::none) return;
  const double begin = end_of(last_);
  const Amounts own = own_weights();
  const double late = bytes * own_.late_share;
  exchange("collect parameters", CollectiveKind::all_gather, {own.dense * late, own.expert * late},
           false);
  fill_up(static_cast<double>(own_.parameters), begin);
}

// Gradients that were whole until now, of the last block first.
void RankBuilder::divide_all() {
  for (std::uint32_t chunk = job_.chunks; chunk-- > 0;) {
    const std::uint32_t position = position_of(*job_.schedule, step_.times.shape, stage_, chunk);
    const std::vector<std::uint32_t> blocks = expanded(step_.position(position));
    for (std::size_t i = blocks.size(); i-- > 0;) divide_gradients(blocks_[blocks[i]]);
  }
}

// The framework's own order; stages meet for the norm of their gradients.
void RankBuilder::end() {
  const double tied_bytes = own_.tied_away * job_.framework->reduce_bytes;
  const double begin = end_of(last_);
  if (!shards_parameters() && !program_.states_gradients()) {
    const bool overlaps = job_.framework->overlaps_gradients;
    reduce_gradients(overlaps ? waiting_ : own_weights(), overlaps);
  }
  if (keeps_collected(job_, plan_)) divide_all();
  wait_for_traveled();
  const double tied_ns =
      scaled_collective_ns(*job_.cluster, embedding_axis(job_),
                           {CollectiveKind::all_reduce, tied_bytes, {}}, no_scale());
  fill_up(static_cast<double>(own_.gradients) - tied_ns, begin);
  if (tied_bytes > 0) {
    chain(collective("add up the tied table", CollectiveKind::all_reduce, embedding_axis(job_),
                     tied_bytes));
    nodes_.back().joins_stages = true;
  }
  if (plan_.pipeline > 1) {
    chain(collective("norm of gradients", CollectiveKind::all_reduce,
                     axis_of(plan_, Axis::pipeline), norm_bytes));
    nodes_.back().joins_stages = true;
  }
  place_.phase = Phase::update;
  compute("optimizer", static_cast<double>(own_.update));
  late_parameters();
}

}  // namespace foretrace
