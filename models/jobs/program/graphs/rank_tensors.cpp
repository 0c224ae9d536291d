#include "models/jobs/program/graphs/rank_tensors.h"

#include <algorithm>

#include "models/jobs/program/sharded_passes.h"
#include "models/jobs/program/stages.h"
#include "sim/core/whole.h"

namespace foretrace {

RankTensors::RankTensors(GraphBuilder& builder, const Job& job, const RankProgram& program,
                         std::uint32_t stage)
    : builder_(builder),
      job_(job),
      program_(program),
      stage_(stage),
      plan_(stage_plan(job, stage)) {
  find_parameters();
}

void RankTensors::find_parameters() {
  const RankProgram::Step& step = program_.step;
  double tied = step.stages[stage_].tied_here;
  std::uint32_t order = 0;
  const auto positions = static_cast<std::uint32_t>(step.first_run.size()) - 1;
  for (std::uint32_t position = 0; position < positions; ++position) {
    const bool is_here = stage_of(*job_.schedule, step.times.shape, position) == stage_;
    for (const std::uint32_t block : expanded(step.position(position))) {
      const NodePlace place{Phase::update, block, order++, 0};
      const std::vector<Operator>& operators = (*program_.divided)[block].operators;
      for (std::uint32_t i = 0; is_here && i < operators.size(); ++i) {
        if (!(operators[i].weights > 0)) continue;
        OwnParameters one{place, i, operators[i].weights, 0, operators[i].is_expert};
        one.updated = one.elements * held_share(one, Sharding::optimizer);
        // The head uses the table of the embedding.
        const bool is_head = (*program_.blocks)[block].role == BlockRole::head;
        if (is_head && tied > 0 && one.elements >= tied) {
          one.updated *= 1 - tied / one.elements;
          tied = 0;
        }
        parameters_.push_back(one);
      }
    }
  }
}

double RankTensors::held_share(const OwnParameters& one, Sharding from) const {
  if (plan_.sharding < from) return 1;
  return 1.0 / (one.is_expert ? std::max(1U, expert_copies(plan_).size) : plan_.shards());
}

void RankTensors::add_held(double bytes, TensorCategory category, LayerId layer) {
  if (!(bytes >= 1)) return;
  Tensor tensor;
  tensor.bytes = to_whole(bytes);
  tensor.rank = static_cast<std::int32_t>(stage_);
  tensor.category = category;
  tensor.provenance = Provenance::table;
  tensor.layer = layer;
  tensor.stream = stream_;
  builder_.add_tensor(tensor);
}

void RankTensors::keep(const RankNode& node, double bytes, TaskId call, LayerId layer) {
  if (!(bytes >= 1)) return;
  Tensor tensor;
  tensor.bytes = tensor.requested_bytes = to_whole(bytes);
  tensor.rank = static_cast<std::int32_t>(stage_);
  tensor.category = TensorCategory::activation;
  tensor.phase = node.place.phase;
  tensor.provenance = Provenance::table;
  tensor.layer = layer;
  tensor.stream = stream_;
  tensor.allocated_in = call;
  in_flight_[{node.place.micro_batch, node.place.order}].kept.push_back(
      {builder_.context().tensors.size(), node.action->operator_index});
  builder_.add_tensor(tensor);
}

// What is recomputed is kept from then on.
double RankTensors::bytes_kept(const RankNode& node) const {
  const RankProgram::Block& block = (*program_.blocks)[node.place.block];
  const Operator& op = (*program_.divided)[node.place.block].operators[node.action->operator_index];
  const Recompute recompute = block.role == BlockRole::layer ? job_.recompute : Recompute::none;
  const bool again = node.action->is_again;
  switch (recompute) {
    case Recompute::none: return op.kept_bytes;
    case Recompute::selective:
      return again ? op.kept_core_bytes : op.kept_bytes - op.kept_core_bytes;
    case Recompute::full:
    case Recompute::operators: break;
  }
  const double all = block.kept_bytes + block.working_bytes;
  return again && all > 0 ? op.kept_bytes * block.working_bytes / all : 0;
}

// The call that allocates what an operator keeps: of what it has read, that of the operator before
// it. What comes from another stage is there as the stage begins.
TaskId RankTensors::maker(const RankNode& node, TaskId first) const {
  const NodePlace& place = node.place;
  const Operator& op = (*program_.divided)[place.block].operators[node.action->operator_index];
  if (op.keeps_result || node.action->is_again) return first;
  for (std::uint32_t back = 0; back <= 1 && back <= place.order; ++back) {
    const auto before = in_flight_.find({place.micro_batch, place.order - back});
    if (before == in_flight_.end() || before->second.last_forward == none<TaskId>) continue;
    return before->second.last_forward;
  }
  return first;
}

void RankTensors::run(const RankNode& node, TaskId first, TaskId last, LayerId layer) {
  InFlight& own = in_flight_[{node.place.micro_batch, node.place.order}];
  const Action& action = *node.action;
  if (!job_.trains()) return;
  if (action.part != KernelPart::forward) {
    own.last_backward = last;
    for (const Kept& kept : own.kept) {
      if (kept.operator_index == action.operator_index) {
        builder_.context().tensors[kept.tensor].freed_in = last;
      }
    }
    return;
  }
  const TaskId from = maker(node, first);
  own.last_forward = last;
  const RankProgram::Block& block = (*program_.blocks)[node.place.block];
  const bool in_whole = block.role == BlockRole::layer && (job_.recompute == Recompute::full ||
                                                           job_.recompute == Recompute::operators);
  if (in_whole && !action.is_again) {
    if (own.kept.empty()) keep(node, block.kept_bytes, from, layer);
    if (!own.kept.empty()) own.kept.front().operator_index = whole_block;
    return;
  }
  keep(node, bytes_kept(node) * node.share, from, layer);
}

void RankTensors::end() {
  for (const auto& [key, own] : in_flight_) {
    for (const Kept& kept : own.kept) {
      Tensor& tensor = builder_.context().tensors[kept.tensor];
      if (tensor.freed_in == none<TaskId>) tensor.freed_in = own.last_backward;
    }
  }
}

}  // namespace foretrace
