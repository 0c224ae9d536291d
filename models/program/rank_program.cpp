#include "models/program/rank_program.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "models/collectives/collective_costs.h"
#include "models/program/gradient_sum.h"

namespace foretrace {
namespace {

class RankBuilder {
 public:
  RankBuilder(const Job& job, const JobBlocks& blocks, std::uint32_t stage)
      : job_(job),
        blocks_(blocks),
        times_(time_blocks(job, blocks, no_scale())),
        parts_(step_parts(job, blocks, times_, no_scale())),
        stage_(stage) {}

  [[nodiscard]] std::vector<RankNode> build();

 private:
  void pass(const ScheduleStep& step);
  void block(std::uint32_t index, bool backward);
  void blocks(const std::vector<BlockRun>& runs, bool backward, bool is_last);
  void stated_gradients(const BlockTimes& block);
  [[nodiscard]] std::vector<double> pieces_of(const BlockTimes& block, double least) const;
  void collect(const BlockTimes& block);
  void divide_gradients(const BlockTimes& block);
  void beside(std::string_view name, CollectiveKind kind, const GridAxis& group, double bytes);
  void action(const Action& action);
  void compute(std::string_view name, double ns);
  std::uint32_t collective(std::string_view name, CollectiveKind kind, const GridAxis& group,
                           double bytes);
  void message(RankNodeType type, std::uint32_t position, std::uint32_t micro_batch, bool forward);
  void end();
  std::uint32_t add(RankNode node);
  void chain(std::uint32_t node) { last_ = {node}; }
  void wait_for_started();
  [[nodiscard]] bool gathers(bool backward) const {
    return job_.plan.sharding == Sharding::parameters && job_.plan.shards() > 1 &&
           (!backward || job_.framework->reshards_after_forward);
  }

  const Job& job_;
  const JobBlocks& blocks_;
  std::vector<BlockTimes> times_;
  StepParts parts_;
  std::uint32_t stage_;
  std::vector<RankNode> nodes_;
  std::vector<std::uint32_t> last_;     // what the next node of the chain waits for
  std::vector<std::uint32_t> started_;  // collectives that run beside it
  // The last collective of sharded parameters or gradients.
  std::optional<std::uint32_t> traveled_;
};

std::uint32_t RankBuilder::add(RankNode node) {
  node.after = last_;
  nodes_.push_back(std::move(node));
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

void RankBuilder::compute(std::string_view name, double ns) {
  if (!(ns > 0)) return;
  // Kernels in a row are one node: nothing else can come between them.
  if (!nodes_.empty() && last_.size() == 1 && last_.front() + 1 == nodes_.size() &&
      nodes_.back().type == RankNodeType::compute && nodes_.back().name == name) {
    nodes_.back().ns += ns;
    return;
  }
  RankNode node;
  node.name = name;
  node.ns = ns;
  chain(add(std::move(node)));
}

std::uint32_t RankBuilder::collective(std::string_view name, CollectiveKind kind,
                                      const GridAxis& group, double bytes) {
  RankNode node;
  node.type = RankNodeType::collective;
  node.name = name;
  node.collective = kind;
  node.group = group;
  node.bytes = bytes;
  node.ns = collective_time(*job_.cluster, {kind, bytes, place(*job_.cluster, group)}).ns;
  return add(std::move(node));
}

void RankBuilder::wait_for_started() {
  last_.insert(last_.end(), started_.begin(), started_.end());
  started_.clear();
}

void RankBuilder::action(const Action& action) {
  switch (action.type) {
    case ActionType::compute: compute(action.is_again ? "recompute" : "compute", action.ns); return;
    case ActionType::collective:
    case ActionType::start: {
      const std::uint32_t node =
          collective(action.name, action.collective, axis_of(job_.plan, action.axis), action.bytes);
      nodes_[node].ns = action.ns;
      if (action.type == ActionType::start) {
        started_.push_back(node);
      } else {
        chain(node);
      }
      return;
    }
    case ActionType::wait: wait_for_started(); return;
  }
}

void RankBuilder::block(std::uint32_t index, bool backward) {
  const BlockProgram& program = blocks_.blocks[index].program;
  for (const Action& one : backward ? program.backward : program.forward) action(one);
  wait_for_started();
  const PassTime& time = backward ? times_[index].backward : times_[index].forward;
  compute("wait for launches", time.host_bound);
}

// Sharded parameters and gradients travel beside the chain, one after the other.
void RankBuilder::beside(std::string_view name, CollectiveKind kind, const GridAxis& group,
                         double bytes) {
  if (group.size <= 1 || !(bytes > 0)) return;
  const std::uint32_t node = collective(name, kind, group, bytes);
  if (traveled_.has_value()) nodes_[node].after.push_back(*traveled_);
  traveled_ = node;
}

// A recording's own: once per step.
void RankBuilder::stated_gradients(const BlockTimes& block) {
  for (const GradientExchange& stated : block.gradients) {
    const Exchange& exchange = stated.exchange;
    const GridAxis axis =
        stated.among_expert_copies ? expert_copies(job_.plan) : axis_of(job_.plan, exchange.axis);
    if (axis.size <= 1 || !(exchange.bytes > 0)) continue;
    beside("reduce gradients", exchange.kind, axis, exchange.bytes);
    nodes_.back().ns = exchange.delay_ns +
                       gradient_sum_ns(job_, axis, {exchange.kind, exchange.bytes, {}}, no_scale());
  }
}

// Elements that travel at once: all of a block, or its tensors from this size on, one by one.
std::vector<double> RankBuilder::pieces_of(const BlockTimes& block, double least) const {
  if (!job_.framework->travel.by_tensor) return {block.dense_weights};
  std::vector<double> pieces;
  std::copy_if(block.traveling.begin(), block.traveling.end(), std::back_inserter(pieces),
               [least](double elements) { return elements >= least; });
  return pieces;
}

void RankBuilder::collect(const BlockTimes& block) {
  const double bytes = job_.framework->gather_bytes;
  constexpr std::string_view name = "collect parameters";
  for (const double n : pieces_of(block, job_.framework->travel.resident_elements)) {
    beside(name, CollectiveKind::all_gather, shard_axis(job_.plan), n * bytes);
  }
  beside(name, CollectiveKind::all_gather, expert_copies(job_.plan), block.expert_weights * bytes);
}

// Copies of a shard add up what their ranks have added up already.
void RankBuilder::divide_gradients(const BlockTimes& block) {
  const double bytes = job_.framework->reduce_bytes;
  const ParallelPlan& plan = job_.plan;
  constexpr std::string_view name = "divide gradients";
  for (const double n : pieces_of(block, 0)) {
    beside(name, CollectiveKind::reduce_scatter, shard_axis(plan), n * bytes);
    beside("reduce gradients", CollectiveKind::all_reduce, replica_axis(plan),
           n * bytes / plan.shards());
  }
  beside(name, CollectiveKind::reduce_scatter, expert_copies(plan), block.expert_weights * bytes);
}

// The parameters of the next blocks are asked for when a block begins, as far ahead as the
// framework looks; gradients leave when their block is done, and nothing but the update waits for
// them.
void RankBuilder::blocks(const std::vector<BlockRun>& runs, bool backward, bool is_last) {
  std::vector<std::uint32_t> order;
  for (const BlockRun& run : runs) order.insert(order.end(), run.count, run.block);
  const auto weights = [this](std::uint32_t block) {
    return times_[block].dense_weights + times_[block].expert_weights;
  };
  std::vector<std::optional<std::uint32_t>> collected(order.size());
  std::size_t asked = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (; gathers(backward) && asked <= i + job_.framework->prefetch && asked < order.size();
         ++asked) {
      if (!(weights(order[asked]) > 0)) continue;
      const std::optional<std::uint32_t> before = traveled_;
      collect(times_[order[asked]]);
      if (traveled_ != before) collected[asked] = traveled_;
    }
    if (collected[i].has_value()) last_.push_back(*collected[i]);
    block(order[i], backward);
    if (backward && is_last) stated_gradients(times_[order[i]]);
    if (backward && gathers(false) && weights(order[i]) > 0) {
      divide_gradients(times_[order[i]]);
    }
  }
}

void RankBuilder::message(RankNodeType type, std::uint32_t position, std::uint32_t micro_batch,
                          bool forward) {
  const ScheduleShape& shape = parts_.times.shape;
  const bool sends = type == RankNodeType::send;
  const std::uint32_t other = forward == sends ? position + 1 : position - 1;
  const std::uint32_t stage = stage_of(*job_.schedule, shape, other);
  if (stage == stage_) return;
  const bool parts = job_.plan.tensor > 1 && (job_.plan.sequence || job_.framework->scatters_sends);
  RankNode node;
  node.type = type;
  node.name = fmt::format("{} {}", sends ? "send" : "receive", forward ? "activation" : "gradient");
  node.bytes = blocks_.hidden_bytes / (parts ? job_.plan.tensor : 1);
  node.stage = stage;
  const Placement pair = place(*job_.cluster, axis_of(job_.plan, Axis::pipeline));
  node.ns = collective_time(*job_.cluster, {CollectiveKind::send, node.bytes, pair}).ns;
  // Both ends name the position that forward data comes from.
  const std::uint32_t edge = std::min(position, other);
  node.message = ((edge * shape.micro_batches) + micro_batch) * 2 + (forward ? 0 : 1);
  const std::uint32_t made = add(std::move(node));
  if (!sends) chain(made);
}

void RankBuilder::pass(const ScheduleStep& step) {
  const ScheduleShape& shape = parts_.times.shape;
  const std::uint32_t position = position_of(*job_.schedule, shape, stage_, step.chunk);
  const std::uint32_t last = shape.stages * shape.chunks - 1;
  const bool backward = step.kind == StepKind::backward;
  if (backward ? position < last : position > 0) {
    message(RankNodeType::receive, position, step.micro_batch, !backward);
  }
  std::vector<BlockRun> runs = parts_.positions[position];
  if (backward) std::reverse(runs.begin(), runs.end());
  blocks(runs, backward, step.micro_batch + 1 == shape.micro_batches);
  if (backward ? position > 0 : position < last) {
    message(RankNodeType::send, position, step.micro_batch, !backward);
  }
}

// Gradients are added up, parameters updated and collected. Collectives that the framework hides
// stand here without anything beside them.
void RankBuilder::end() {
  double dense = 0;
  double expert = 0;
  double resident = 0;  // tensors that stay on every rank
  for (std::uint32_t chunk = 0; chunk < job_.chunks; ++chunk) {
    const auto at = position_of(*job_.schedule, parts_.times.shape, stage_, chunk);
    for (const BlockRun& run : parts_.positions[at]) {
      dense += run.count * times_[run.block].dense_weights;
      expert += run.count * times_[run.block].expert_weights;
      for (const double n : pieces_of(times_[run.block], 0)) {
        if (n < job_.framework->travel.resident_elements) resident += run.count * n;
      }
    }
  }
  const Sharding sharding = job_.plan.sharding;
  const Framework& framework = *job_.framework;
  const auto exchange = [&](std::string_view name, CollectiveKind kind, double bytes) {
    for (const auto& [group, weights] : {std::pair{axis_of(job_.plan, Axis::data), dense},
                                         std::pair{expert_copies(job_.plan), expert}}) {
      if (group.size <= 1 || !(weights > 0)) continue;
      const std::uint32_t node = collective(name, kind, group, weights * bytes);
      nodes_[node].ns = gradient_sum_ns(job_, group, {kind, weights * bytes, {}}, no_scale());
      chain(node);
    }
  };
  if (sharding != Sharding::parameters) {
    exchange(
        "reduce gradients",
        sharding == Sharding::none ? CollectiveKind::all_reduce : CollectiveKind::reduce_scatter,
        framework.reduce_bytes);
  }
  if (traveled_.has_value()) last_.push_back(*traveled_);
  compute("optimizer", static_cast<double>(parts_.update[stage_]));
  if (sharding == Sharding::optimizer || sharding == Sharding::gradients) {
    exchange("collect parameters", CollectiveKind::all_gather, framework.gather_bytes);
  }
  if (gathers(false) && resident > 0) {
    chain(collective("collect parameters", CollectiveKind::all_gather, shard_axis(job_.plan),
                     resident * framework.gather_bytes));
  }
}

std::vector<RankNode> RankBuilder::build() {
  for (const ScheduleStep& step : job_.schedule->order(parts_.times.shape, stage_)) {
    if (step.kind == StepKind::backward && !job_.trains()) continue;
    pass(step);
  }
  if (job_.trains()) end();
  return std::move(nodes_);
}

}  // namespace

Result<std::vector<RankNode>> rank_program(const Job& job, const JobBlocks& blocks,
                                           std::uint32_t stage) {
  if (Status alike = check_stages_alike(job); !alike.ok()) return std::move(alike).error();
  if (job.schedule->splits_backward) {
    return Error{
        ErrorCode::unsupported,
        fmt::format("/schedule: got {}, whose backward passes are divided, expected another",
                    job.schedule->name)};
  }
  return RankBuilder(job, blocks, stage).build();
}

}  // namespace foretrace
