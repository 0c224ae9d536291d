#include "models/jobs/program/graphs/rank_nodes.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "models/hardware/collectives/collective_costs.h"
#include "models/jobs/program/graphs/rank_builder.h"
#include "models/jobs/program/sharded_passes.h"
#include "models/jobs/schedules/execution.h"

namespace foretrace {

std::uint32_t RankBuilder::add(RankNode node) {
  node.after = last_;
  node.place = place_;
  node.ready = ready_;
  nodes_.push_back(std::move(node));
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

// When these nodes have ended, as if messages came and other ranks were there at once.
double RankBuilder::end_of(const std::vector<std::uint32_t>& nodes) {
  const auto latest = [this](const std::vector<std::uint32_t>& list) {
    double end = 0;
    for (const std::uint32_t node : list) end = std::max(end, ends_[node]);
    return end;
  };
  for (std::size_t i = ends_.size(); i < nodes_.size(); ++i) {
    const RankNode& node = nodes_[i];
    const bool is_message = node.type == RankNodeType::send || node.type == RankNodeType::receive;
    ends_.push_back(latest(node.after) + (is_message ? 0 : node.ns));
  }
  return latest(nodes);
}

// Kernels and collectives that run beside each other slow each other down; their nodes take as long
// as alone, and what is missing since `begin` follows them.
void RankBuilder::fill_up(double wanted_ns, double begin) {
  compute("slowed by communication", wanted_ns - (end_of(last_) - begin));
}

void RankBuilder::wait_for_traveled() {
  if (traveled_.has_value()) last_.push_back(*traveled_);
}

void RankBuilder::compute(std::string_view name, double ns) {
  if (!(ns >= 0.5)) return;  // of a ns
  // Kernels in a row are one node: nothing else can come between them.
  if (!nodes_.empty() && last_.size() == 1 && last_.front() + 1 == nodes_.size() &&
      nodes_.back().type == RankNodeType::compute && nodes_.back().name == name) {
    nodes_.back().ns += ns;
    if (ends_.size() == nodes_.size()) ends_.back() += ns;
    return;
  }
  RankNode node;
  node.name = name;
  node.ns = ns;
  chain(add(std::move(node)));
}

void RankBuilder::compute(const Action& action, double ns) {
  if (grain_ == NodeGrain::runs) return compute(action.is_again ? "recompute" : "compute", ns);
  if (!(ns >= 0.5)) return;
  RankNode node;
  node.name = action.name;
  node.ns = ns;
  node.action = &action;
  node.provenance = action.provenance;
  node.share = ns / action.ns;
  node.launches = node.share * action.kernels;
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
  const CollectiveTime time =
      collective_time(*job_.cluster, {kind, bytes, place(*job_.cluster, group)});
  node.ns = time.ns;
  node.provenance = time.provenance;
  return add(std::move(node));
}

void RankBuilder::wait_for_started() {
  last_.insert(last_.end(), started_.begin(), started_.end());
  started_.clear();
}

void RankBuilder::action(const Action& action) {
  switch (action.type) {
    case ActionType::compute: compute(action, action.ns); return;
    case ActionType::collective:
    case ActionType::start: {
      const std::uint32_t node =
          collective(action.name, action.collective, axis_of(plan_, action.axis), action.bytes);
      nodes_[node].ns = action.ns;
      nodes_[node].launches = action.kernels;
      if (action.type == ActionType::start) {
        // They run one after the other, as TwoLanes has it.
        if (!started_.empty()) nodes_[node].after.push_back(started_.back());
        started_.push_back(node);
      } else {
        chain(node);
      }
      return;
    }
    case ActionType::wait: wait_for_started(); return;
  }
}

// A collective in pieces beside a product: all but the last one, the product, a wait, the last one.
bool RankBuilder::is_in_pieces(std::span<const Action> actions, std::size_t at) {
  return at + 3 < actions.size() && actions[at].type == ActionType::start &&
         actions[at + 1].type == ActionType::compute &&
         actions[at + 3].type == ActionType::collective && actions[at + 3].kernels == 0;
}

// One node, so that its latency counts once. It begins as late as its pieces end behind the
// product.
void RankBuilder::in_pieces(const Action& pieces, const Action& product) {
  const double beside = std::min(product.ns, pieces.ns);
  compute(product, product.ns - beside);
  started_.push_back(
      collective(pieces.name, pieces.collective, axis_of(plan_, pieces.axis), pieces.bytes));
  nodes_.back().launches = pieces.kernels;
  compute(product, beside);
  wait_for_started();
}

void RankBuilder::block(std::uint32_t index, bool backward) {
  const RankProgram::Block& block = blocks_[index];
  const RankProgram::BlockPass& pass = backward ? block.backward : block.forward;
  const std::span<const Action> actions = program_.actions_of(pass);
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (is_in_pieces(actions, i)) {
      in_pieces(actions[i], actions[i + 1]);
      i += 3;
    } else {
      action(actions[i]);
    }
  }
  wait_for_started();
}

// Sharded parameters and gradients travel beside the chain, one after the other.
void RankBuilder::beside(std::string_view name, CollectiveKind kind, const GridAxis& group,
                         double bytes) {
  if (group.size <= 1 || !(bytes > 0)) return;
  const std::uint32_t node = collective(name, kind, group, bytes);
  nodes_[node].travels = true;
  if (traveled_.has_value()) nodes_[node].after.push_back(*traveled_);
  traveled_ = node;
}

// Elements that travel at once: all of a block, or its tensors from this size on, one by one.
std::vector<double> RankBuilder::pieces_of(const RankProgram::Block& block, double least) const {
  if (!job_.framework->travel.by_tensor) return {block.dense_weights};
  std::vector<double> pieces;
  std::copy_if(block.traveling.begin(), block.traveling.end(), std::back_inserter(pieces),
               [least](double elements) { return elements >= least; });
  return pieces;
}

void RankBuilder::collect(const RankProgram::Block& block) {
  const double bytes = job_.framework->gather_bytes;
  constexpr std::string_view name = "collect parameters";
  std::vector<double> pieces = pieces_of(block, job_.framework->travel.resident_elements);
  if (pieces.empty() || job_.framework->travel.by_tensor) pieces.push_back(0);
  pieces.back() += block.frozen_weights;
  for (const double n : pieces) {
    beside(name, CollectiveKind::all_gather, shard_axis(plan_), n * bytes);
  }
  beside(name, CollectiveKind::all_gather, expert_copies(plan_), block.expert_weights * bytes);
}

void RankBuilder::divide_gradients(const RankProgram::Block& block) {
  const double bytes = job_.framework->reduce_bytes;
  const auto divide = [&](double dense, double expert) {
    for (const GradientSum& sum : gradient_sums(plan_, dense * bytes, expert * bytes)) {
      const bool scatters = sum.kind == CollectiveKind::reduce_scatter;
      beside(scatters ? "divide gradients" : "reduce gradients", sum.kind, sum.axis, sum.bytes);
    }
  };
  for (const double n : pieces_of(block, 0)) divide(n, 0);
  divide(0, block.expert_weights);
}

// The parameters of the next blocks that have some are asked for when a block begins, as far ahead
// as the framework looks; gradients leave when their block is done, and nothing but the update waits for
// them.
void RankBuilder::blocks(std::uint32_t position, bool backward, bool is_last) {
  std::vector<std::uint32_t> order = expanded(step_.position(position));
  if (backward) std::reverse(order.begin(), order.end());
  const std::uint32_t first = place_.order;
  const auto is_collected = [&](std::size_t at) {
    const bool is_kept = backward && at == 0 && keeps_last_collected(job_, position);
    return !is_kept && blocks_[order[at]].collected_weights() > 0;
  };
  std::vector<std::optional<std::uint32_t>> collected(order.size());
  std::size_t asked = 0;
  std::size_t ahead = 0;  // of the block that begins: asked for
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i < asked && is_collected(i)) --ahead;
    for (; gathers(backward) && asked < order.size() &&
           (asked <= i || ahead < job_.framework->prefetch);
         ++asked) {
      if (!is_collected(asked)) continue;
      if (asked > i) ++ahead;
      const std::optional<std::uint32_t> before = traveled_;
      collect(blocks_[order[asked]]);
      if (traveled_ != before) collected[asked] = traveled_;
    }
    if (collected[i].has_value()) last_.push_back(*collected[i]);
    place_.block = order[i];
    place_.order = first + static_cast<std::uint32_t>(backward ? order.size() - 1 - i : i);
    block(order[i], backward);
    if (backward && is_last) gradients_of(blocks_[order[i]]);
    if (backward && gathers(false)) {
      divide_gradients(blocks_[order[i]]);
    }
  }
  place_.block = UINT32_MAX;
}

void RankBuilder::message(RankNodeType type, std::uint32_t position, std::uint32_t micro_batch,
                          bool forward) {
  const ScheduleShape& shape = step_.times.shape;
  const bool sends = type == RankNodeType::send;
  const std::uint32_t other = forward == sends ? position + 1 : position - 1;
  const std::uint32_t stage = stage_of(*job_.schedule, shape, other);
  if (stage == stage_) return;
  const bool parts = sends_pieces(job_, plan_);
  RankNode node;
  node.type = type;
  node.name = fmt::format("{} {}", sends ? "send" : "receive", forward ? "activation" : "gradient");
  // Both ends name the position that forward data comes from.
  const std::uint32_t edge = std::min(position, other);
  const double whole =
      passed_bytes(job_, program_, edge + 1, stage_of(*job_.schedule, shape, edge + 1));
  node.bytes = whole / (parts ? plan_.tensor : 1);
  node.stage = stage;
  const Placement pair = pair_placement(job_, stage_, stage);
  node.ns = collective_time(*job_.cluster, {CollectiveKind::send, node.bytes, pair}).ns;
  node.message = ((edge * shape.micro_batches) + micro_batch) * 2 + (forward ? 0 : 1);
  const std::uint32_t made = add(std::move(node));
  if (job_.framework->sends_block) chain(made);
  if (sends) return;
  // Beside the passes before: what comes waits for what came, and the next pass for it.
  std::uint32_t there = made;
  if (!job_.framework->sends_block && received_.has_value()) nodes_[made].after = {*received_};
  if (parts && !plan_.sequence) {  // each tensor rank got a piece
    there = collective("put pieces together", CollectiveKind::all_gather,
                       axis_of(plan_, Axis::tensor), whole);
    nodes_[there].after = {made};
    nodes_[there].travels = true;
  }
  received_ = there;
  if (job_.framework->sends_block) {
    chain(there);
  } else {
    last_.push_back(there);
  }
}

// Blocks of the model that positions before this one have.
std::uint32_t RankBuilder::blocks_before(std::uint32_t position) const {
  std::uint32_t count = 0;
  for (std::uint32_t before = 0; before < position; ++before) {
    for (const BlockRun& run : step_.position(before)) count += run.count;
  }
  return count;
}

// What the host does between launches, which keeps the device from running; at most what is missing.
void RankBuilder::wait_for_host(double ns, double most_ns) {
  const double waits = std::min(ns, most_ns);
  if (!(waits >= 0.5)) return;  // of a ns
  compute("views and copies of shards", waits);
  nodes_.back().host_ns += ns;
}

void RankBuilder::pass(const ScheduleStep& step) {
  const ScheduleShape& shape = step_.times.shape;
  const std::uint32_t position = position_of(*job_.schedule, shape, stage_, step.chunk);
  const std::uint32_t last = shape.stages * shape.chunks - 1;
  const bool backward = step.kind == StepKind::backward;
  place_ = {backward ? Phase::backward : Phase::forward, UINT32_MAX, 0, step.micro_batch};
  if (backward ? position < last : position > 0) {
    message(RankNodeType::receive, position, step.micro_batch, !backward);
  }
  const PassTime& time = (backward ? step_.backward : step_.forward)[position];
  const double blocked = time.exposed[static_cast<std::size_t>(Axis::pipeline)];
  const double begin = end_of(last_);
  place_.order = blocks_before(position);
  blocks(position, backward, step.micro_batch + 1 == shape.micro_batches);
  if (shards_parameters()) wait_for_traveled();
  const double alone = time.total - time.late_calls - blocked;
  wait_for_host(time.host_waits, alone - (end_of(last_) - begin));
  fill_up(alone, begin);
  wait_for_launches(time.late_calls);
  if (backward ? position > 0 : position < last) {
    message(RankNodeType::send, position, step.micro_batch, !backward);
  } else {
    compute("wait for a message", blocked);  // at the ends what they receive
  }
}

// Operators are launched one by one; runs of them have what their pass waits for that.
void RankBuilder::wait_for_launches(double late_calls) {
  if (grain_ == NodeGrain::operators) return;
  if (passes_ < launch_waits_.size()) late_calls += static_cast<double>(launch_waits_[passes_]);
  compute("wait for launches", late_calls);
}

std::vector<RankNode> RankBuilder::build() {
  if (grain_ == NodeGrain::runs && step_.times.has_launches()) {
    launch_waits_ = finished(*job_.schedule, step_.times, Passes::by_steps).launch_waits_ns[stage_];
  }
  place_.phase = Phase::forward;
  if (job_.trains()) early_parameters();
  for (const ScheduleStep& step : job_.schedule->order(step_.times.shape, stage_)) {
    if (step.kind != StepKind::backward || job_.trains()) pass(step);
    ++passes_;
  }
  place_ = {Phase::backward, UINT32_MAX, 0, 0};
  if (job_.trains()) end();
  return std::move(nodes_);
}

Result<std::vector<RankNode>> rank_nodes(const Job& job, const RankProgram& program,
                                         std::uint32_t stage, NodeGrain grain) {
  FORETRACE_TRY(check_stages_alike(job));
  if (job.schedule->splits_backward) {
    return Error{
        ErrorCode::unsupported,
        fmt::format("/schedule: got {}, whose backward passes are divided, expected another",
                    job.schedule->name)};
  }
  return RankBuilder(job, program, stage, grain).build();
}

}  // namespace foretrace
