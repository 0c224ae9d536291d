// What a rank does at the end of a step: gradients are added up, parameters updated and collected.
#include <algorithm>
#include <utility>

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

bool RankBuilder::exchange(std::string_view name, const GradientSum& what, bool is_beside) {
  if (what.axis.size <= 1 || !(what.bytes > 0)) return false;
  if (is_beside) {
    beside(name, what.kind, what.axis, what.bytes);
  } else {
    chain(collective(name, what.kind, what.axis, what.bytes));
  }
  return true;
}

// Each has what it updates: the share of its group.
void RankBuilder::collect_parameters(double share, bool is_beside) {
  const Amounts own = own_weights();
  const double bytes = job_.framework->gather_bytes * share;
  for (const auto& [axis, elements] :
       {std::pair(shard_axis(plan_), own.dense), std::pair(expert_copies(plan_), own.expert)}) {
    static_cast<void>(exchange("collect parameters",
                               {axis, CollectiveKind::all_gather, elements * bytes}, is_beside));
  }
}

void RankBuilder::reduce_gradients(const Amounts& elements, bool is_beside) {
  const double bytes = job_.framework->reduce_bytes;
  for (const GradientSum& sum :
       gradient_sums(plan_, elements.dense * bytes, elements.expert * bytes)) {
    if (exchange("reduce gradients", sum, is_beside)) take_sum_time(sum.bytes);
  }
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
  collect_parameters(1 - own_.late_share, true);
  traveled_.reset();  // the passes do not wait for it
}

void RankBuilder::late_parameters() {
  if (shards_parameters() && !keeps_collected(job_, plan_)) {
    if (!(own_.resident > 0)) return;
    chain(collective("collect parameters", CollectiveKind::all_gather, shard_axis(plan_),
                     own_.resident * job_.framework->gather_bytes));
    return;
  }
  if (plan_.sharding == Sharding::none) return;
  const double begin = end_of(last_);
  collect_parameters(own_.late_share, false);
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
