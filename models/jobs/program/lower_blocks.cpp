// A job's model becomes the blocks of one rank: built, divided by the plan, and every kernel and
// collective with its time.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/collectives/expert_exchange.h"
#include "models/jobs/program/lowering.h"
#include "models/jobs/program/rank_program.h"
#include "models/jobs/program/stages.h"
#include "models/jobs/workloads/layered.h"

namespace foretrace {
namespace {

// What one rank gives to an all-gather becomes what all of them have.
void gather_whole(Exchange& exchange, const ParallelPlan& plan) {
  if (exchange.is_part) exchange.bytes *= axis_of(plan, exchange.axis).size;
  exchange.is_part = false;
}

void complete_recorded(Workload& workload, const ParallelPlan& plan) {
  for (Block& block : workload.blocks) {
    for (Operator& op : block.operators) {
      for (Exchange* exchange : {&op.forward, &op.backward, &op.gradients}) {
        gather_whole(*exchange, plan);
      }
    }
  }
}

// `bytes` are those of a copy of every token for each of its experts.
CollectiveTime forwarded(const Job& job, const Placement& group, double bytes) {
  ExpertExchange exchange;
  exchange.style = ExchangeStyle::forwarded;
  exchange.top_k = job.model->experts.top_k;
  exchange.experts = job.model->experts.count;
  exchange.tokens = 1;
  exchange.token_bytes = bytes / exchange.top_k;
  exchange.node_limit = job.model->experts.node_limit;
  exchange.group = group;
  return exchange_time(*job.cluster, exchange);
}

using ProgramBlocks = std::vector<RankProgram::Block>;

void add_recorded_weights(const TransformerSpec& model, ProgramBlocks& blocks) {
  if (!model.is_recorded()) return;
  const std::vector<RecordedWeights>& weights = model.layered->recorded->weights;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    blocks[i].frozen_weights = weights[i].frozen;
    blocks[i].ready = weights[i].gradients;
  }
}

// What a machine does once per pass, before the model's own blocks.
void add_start(const ExecModel& model, std::vector<BlockRun>& order, ProgramBlocks& blocks,
               std::vector<Action>& actions) {
  if (!(model.start_ns() > 0)) return;
  Action action;
  action.source = CostSource::start;
  action.provenance = model.machine().provenance;
  action.ns = model.start_ns();
  action.name = "start of the inference";
  order.insert(order.begin(), {static_cast<std::uint32_t>(blocks.size()), 1});
  RankProgram::Block& block = blocks.emplace_back();
  block.role = BlockRole::embedding;
  block.name = action.name;
  block.forward = {static_cast<std::uint32_t>(actions.size()), 1, {}};
  actions.push_back(action);
}

RankProgram filled(ProgramBlocks blocks, std::vector<Action> actions, RankProgram program) {
  program.blocks = std::make_shared<const ProgramBlocks>(std::move(blocks));
  program.actions = std::make_shared<const std::vector<Action>>(std::move(actions));
  return program;
}

/// One stage as if it were all of a pipeline of its kind.
Job stage_job(const Job& job, std::uint32_t stage) {
  Job own = job;
  own.plan = stage_plan(job, stage);
  own.micro_batch = job.micro_batch / batch_parts(job, stage);
  own.recompute = job.stages[stage].recompute;
  own.stages.clear();
  return own;
}

// Each kind of stage has its blocks.
RankProgram lower_stages(const Job& job) {
  RankProgram all;
  ProgramBlocks blocks;
  std::vector<Block> divided;
  std::vector<Action> actions;
  std::map<Job, std::uint32_t> first_block;
  std::vector<std::uint32_t> base;  // of each stage: where the blocks of its kind begin
  std::vector<BlockRun> order;
  for (std::uint32_t stage = 0; stage < job.plan.pipeline; ++stage) {
    const Job own = stage_job(job, stage);
    const auto [found, is_new] =
        first_block.emplace(job_of_blocks(own), static_cast<std::uint32_t>(blocks.size()));
    base.push_back(found->second);
    if (!is_new) continue;
    RankProgram lowered = lower_blocks(own);
    const auto behind = static_cast<std::uint32_t>(actions.size());
    actions.insert(actions.end(), lowered.actions->begin(), lowered.actions->end());
    divided.insert(divided.end(), lowered.divided->begin(), lowered.divided->end());
    for (const RankProgram::Block& block : *lowered.blocks) {
      for (RankProgram::BlockPass* pass : blocks.emplace_back(block).passes()) {
        pass->first += behind;
      }
    }
    if (stage > 0) continue;
    order = std::move(lowered.order);
    all.tied_weights = lowered.tied_weights * own.plan.tensor;
    all.hidden_bytes = lowered.hidden_bytes * own.plan.data;
    all.attention_intensity = lowered.attention_intensity;
  }
  std::uint32_t stage = 0;
  std::uint32_t room = job.stages.front().layers;
  for (const BlockRun& run : order) {
    const BlockRole role = blocks[run.block].role;
    if (role != BlockRole::layer) {
      const std::uint32_t at = role == BlockRole::head ? job.plan.pipeline - 1 : 0;
      all.order.push_back({base[at] + run.block, run.count});
      continue;
    }
    for (std::uint32_t left = run.count; left > 0;) {
      if (room == 0) room = job.stages[++stage].layers;
      const std::uint32_t taken = std::min(left, room);
      all.order.push_back({base[stage] + run.block, taken});
      room -= taken;
      left -= taken;
    }
  }
  all.divided = std::make_shared<const std::vector<Block>>(std::move(divided));
  return filled(std::move(blocks), std::move(actions), std::move(all));
}

}  // namespace

RankProgram lower_blocks(const Job& job) {
  if (job.has_own_ranks()) return lower_stages(job);
  KernelTimes kernels(*job.cluster, *job.framework, job.precisions);
  BatchShape batch = batch_of(job, job.micro_batch);
  batch.number_bytes = kernels.number_bytes();
  batch.product_bytes = kernels.product_bytes();
  // A micro-batch in training is long enough to reach all of them.
  if (!job.trains()) batch.expert_batches = expert_batches(job.plan);
  Workload workload = build_transformer(*job.model, batch, kernel_set(job));
  ParallelPlan plan = job.plan;
  plan.async_tensor_backward = plan.async_tensor_backward && job.framework->overlaps_tensor;
  plan.balances_context = plan.balances_context && job.framework->balances_context;
  plan.context_ring = job.framework->context_ring;
  plan.tensor_pieces = job.framework->pipelines_tensor;
  if (job.model->is_recorded()) {
    complete_recorded(workload, plan);
  } else {
    divide(workload, plan);
  }
  kernels.set_weights(weights_of(workload));

  std::array<Placement, axis_count> places;
  for (std::size_t i = 0; i < axis_count; ++i) {
    places[i] = place(*job.cluster, axis_of(job.plan, static_cast<Axis>(i)));
  }
  LoweringOptions options{kernels, *job.framework};
  options.recompute = job.recompute;
  options.trains = job.trains();
  options.splits_backward = job.schedule->splits_backward;
  options.gathers_8_bit = job.framework->gathers_8_bit && job.precisions.layers_in_8_bit;
  options.tensor_ranks = plan.tensor;
  options.collective = [&](Axis axis, CollectiveKind kind, double bytes) {
    if (axis == Axis::expert && job.framework->forwards_tokens) {
      return forwarded(job, places[static_cast<std::size_t>(axis)], bytes);
    }
    return collective_time(*job.cluster, {kind, bytes, places[static_cast<std::size_t>(axis)]});
  };
  options.leaves_node = [&](Axis axis) { return places[static_cast<std::size_t>(axis)].nodes > 1; };

  RankProgram result;
  result.order = workload.order;
  if (workload.ties_embeddings) {
    result.tied_weights = job.model->vocabulary * job.model->hidden / plan.tensor;
  }
  result.hidden_bytes = batch.tokens() * job.model->hidden * batch.number_bytes / plan.context;
  result.attention_intensity = kernels.attention_intensity();
  ProgramBlocks blocks;
  std::vector<Action> actions;
  blocks.reserve(workload.blocks.size());
  for (const Block& block : workload.blocks) blocks.push_back(lower(block, options, actions));
  add_recorded_weights(*job.model, blocks);
  if (kernels.exec_model() != nullptr) {
    add_start(*kernels.exec_model(), result.order, blocks, actions);
  }
  workload.blocks.resize(blocks.size());
  result.divided = std::make_shared<const std::vector<Block>>(std::move(workload.blocks));
  return filled(std::move(blocks), std::move(actions), std::move(result));
}

Job job_of_blocks(Job job) {
  // Of all that a schedule says, blocks know whether it divides backward passes.
  for (const ScheduleInfo* schedule : schedules::all()) {
    if (schedule->splits_backward != job.schedule->splits_backward) continue;
    job.schedule = schedule;
    break;
  }
  if (job.pass != Pass::decode) job.keys = 0;
  job.sparse_gradients.reset();
  job.chunks = 1;
  job.global_batch = 1;
  job.plan.shard_size = 0;
  // Each of these stages has its blocks.
  if (job.has_own_ranks()) return job;
  job.stages.clear();
  job.plan.sharding = Sharding::none;
  // Where groups lie differently the size of the grid decides which of them there are.
  constexpr std::array axes = {Axis::tensor, Axis::context, Axis::expert};
  if (!std::all_of(axes.begin(), axes.end(), [&job](Axis axis) {
        return groups_lie_alike(*job.cluster, axis_of(job.plan, axis));
      })) {
    return job;
  }
  job.plan.pipeline = 1;
  // The collectives of a recording may be those of its data group.
  if (!job.model->is_recorded()) job.plan.data = 1;
  return job;
}

}  // namespace foretrace
