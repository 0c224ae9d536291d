#include "models/jobs/program/job.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/collectives/expert_exchange.h"
#include "models/hardware/costs/rates.h"
#include "models/hardware/power/power_clock.h"
#include "models/jobs/workloads/layered.h"

namespace foretrace {
namespace {

Error refuse(std::string_view pointer, const std::string& what) {
  return Error{ErrorCode::bad_config, fmt::format("{}: {}", pointer, what)};
}

/// True if it has collectives of gradients of its own.
bool states_gradients(const LayeredSpec& spec) {
  return std::any_of(spec.groups.begin(), spec.groups.end(), [](const LayerGroup& group) {
    return std::any_of(group.operators.begin(), group.operators.end(), [](const LayerOperator& op) {
      return op.exchanges.gradients.kind != CollectiveKind::none;
    });
  });
}

// Layers of a recording are divided already: the plan has to be the one that they were divided by.
Status check_recorded(const Job& job) {
  const LayeredSpec& spec = *job.model->layered;
  struct Size {
    std::string_view name;
    std::uint32_t stated;
    std::uint32_t planned;
  };
  for (const Size& size :
       {Size{"tensor", spec.recorded->tensor, job.plan.tensor},
        Size{"expert", spec.recorded->expert, job.plan.expert},
        Size{"data", spec.recorded->data, job.plan.data}, Size{"context", 1, job.plan.context}}) {
    if (size.stated == 0 || size.stated == size.planned) continue;
    return refuse(fmt::format("/parallelism/{}", size.name),
                  fmt::format("got {}, expected {}, which the recorded layers are divided by",
                              size.planned, size.stated));
  }
  // Whether there are as many stages as the pipeline has is checked behind this.
  const std::size_t stages = job.has_own_ranks() ? job.stages.size() : 1;
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    const std::uint32_t parts = batch_parts(job, stage);
    if (job.micro_batch == parts) continue;
    return refuse(
        "/batch/micro",
        fmt::format("got {}, expected {}: recorded times are those of the micro-batch that "
                    "was recorded",
                    job.micro_batch, parts));
  }
  const std::uint32_t ranks = job.plan.copies() * job.plan.tensor;
  if (ranks % std::max(1U, job.plan.expert * job.plan.expert_tensor) != 0) {
    return refuse("/parallelism/expert", fmt::format("got {}, expected a divisor of the {} data "
                                                     "ranks",
                                                     job.plan.expert, job.plan.copies()));
  }
  if (job.plan.pipeline > 1 && !(job.model->hidden > 0)) {
    return refuse("/parallelism/pipeline",
                  fmt::format("got {}, expected 1: the recording does not say what goes from stage "
                              "to stage",
                              job.plan.pipeline));
  }
  if (job.plan.sharding != Sharding::none && states_gradients(spec)) {
    return refuse("/parallelism/sharding",
                  "stands beside a recording that has its own collectives of gradients, expected "
                  "none");
  }
  return ok_status();
}

// Every one is simulated; published jobs have hundreds.
constexpr double most_passes = 16384;

Status check_batch(const Job& job) {
  const double per_rank = job.global_batch / job.plan.data;
  if (!(job.micro_batch > 0) || !(job.global_batch > 0)) {
    return refuse("/batch", "got a batch that is not positive");
  }
  const double passes = per_rank / job.micro_batch;
  if (passes > most_passes) {
    return refuse("/batch/global",
                  fmt::format("got {:.0f} micro-batches per data rank, expected at most {:.0f}",
                              passes, most_passes));
  }
  if (std::abs(passes - std::round(passes)) > 1e-9 || passes < 1) {
    return refuse("/batch/global",
                  fmt::format("got {}, expected a multiple of {} data ranks x micro-batch {}",
                              job.global_batch, job.plan.data, job.micro_batch));
  }
  return ok_status();
}

Status check_length(const Job& job) {
  if (std::fmod(job.length, job.plan.context) == 0 || job.pass == Pass::decode) return ok_status();
  return refuse("/parallelism/context",
                fmt::format("got {}, expected a divisor of the {} tokens of "
                            "a sequence",
                            job.plan.context, job.length));
}

Status check_machine(const Job& job) {
  if (job.cluster->accelerator.name.empty() && !job.model->is_recorded()) {
    return refuse("/cluster", fmt::format("got {}, which names no accelerator, expected a cluster "
                                          "file that imports it and names one",
                                          job.cluster->name));
  }
  const std::uint64_t ranks = job.ranks();
  if (ranks > job.cluster->accelerators()) {
    return refuse("/parallelism",
                  fmt::format("got {} ranks, expected at most the {} accelerators of {}", ranks,
                              job.cluster->accelerators(), job.cluster->name));
  }
  if (job.cluster->nodes > 1 && ranks > job.cluster->node_accelerators &&
      job.cluster->network.nics == 0) {
    return refuse("/cluster",
                  fmt::format("got {}, whose nodes are not joined, expected a network "
                              "for {} ranks on nodes of {}",
                              job.cluster->name, ranks, job.cluster->node_accelerators));
  }
  return ok_status();
}

void add_duty(const PassTime& time, double count, double intensity, Duty& duty) {
  const auto computed = [&time](CostSource source) {
    return time.computed[static_cast<std::size_t>(source)];
  };
  const double attention = computed(CostSource::attention);
  duty.products += count * (computed(CostSource::product) + intensity * attention);
  duty.memory += count * (computed(CostSource::memory) + (1 - intensity) * attention);
  for (const double exposed : time.exposed) duty.waiting += count * exposed;
  duty.idle += count * time.host_bound;
}

double clock_factor(const SustainedClock& clock, double now, CostSource source) {
  return (source == CostSource::product ? clock.typical : clock.high) / now;
}

// Share of a stage's own work that it waits for others, at both ends of a step.
double waiting_share(const Job& job) {
  return static_cast<double>(job.plan.pipeline - 1) /
         (static_cast<double>(job.micro_batches()) * job.chunks);
}

// Products run at the clock of their duty in layers; rates of attention were measured at the high
// one.
double settled_clock(const Job& job, const JobBlocks& blocks) {
  const SustainedClock& clock = job.cluster->accelerator.sustained_clock;
  double now = clock.typical;
  // The duty depends on the clock and the clock on the duty, each weakly.
  for (int round = 0; round < 3; ++round) {
    SourceScale scale = no_scale();
    for (const CostSource source : {CostSource::product, CostSource::attention}) {
      scale[static_cast<std::size_t>(source)] = clock_factor(clock, now, source);
    }
    Duty duty;
    for (const BlockRun& run : blocks.order) {
      const BlockProgram& program = blocks.blocks[run.block].program;
      for (const auto* actions : {&program.forward, &program.backward, &program.weight_gradients}) {
        add_duty(time_of(*actions, *job.framework, scale), run.count, blocks.attention_intensity,
                 duty);
      }
    }
    // Stages wait for each other at both ends of a step.
    duty.idle += waiting_share(job) * (duty.products + duty.memory + duty.waiting + duty.idle);
    now = clock_at_duty(clock, duty);
  }
  return now;
}

bool has_free_clock(const Job& job) {
  const SustainedClock& clock = job.cluster->accelerator.sustained_clock;
  return uses_matrix_units(job.precisions.activations) && clock.low < clock.high;
}

}  // namespace

Status check_precision(const Precisions& precisions, const Accelerator& accelerator) {
  for (const Precision precision :
       {precisions.activations,
        precisions.layers_in_8_bit ? Precision::fp8 : precisions.activations}) {
    if (accelerator.flops(precision) > 0) continue;
    std::string known;
    for (std::size_t p = 1; p < precision_count; ++p) {
      const auto other = static_cast<Precision>(p);
      if (accelerator.flops(other) <= 0) continue;
      known += fmt::format("{}{}", known.empty() ? "" : ", ", to_string(other));
    }
    return refuse("/precision", fmt::format("got {}, for which {} has no units, expected one of {}",
                                            to_string(precision), accelerator.name, known));
  }
  return ok_status();
}

Status check_job(const Job& job) {
  if (job.has_samples() && job.length != 1) {
    return refuse("/workload/sequence",
                  fmt::format("a sample has no tokens, got {}, expected 1", job.length));
  }
  if (job.model->is_recorded()) {
    FORETRACE_TRY(check_recorded(job));
  } else if (Status status = check_plan(job.plan, *job.model);
             !status.ok() && !job.has_own_ranks()) {
    return Error{status.error().code, "/parallelism/" + status.error().message};
  }
  if (job.plan.shard_size > 0 && job.plan.copies() % job.plan.shard_size != 0) {
    return refuse(
        "/parallelism/shard_size",
        fmt::format("got {}, expected a divisor of the {} ranks that hold the same layers",
                    job.plan.shard_size, job.plan.copies()));
  }
  FORETRACE_TRY(check_machine(job));
  // A recording has its times whatever it was computed in.
  if (!job.model->is_recorded()) {
    FORETRACE_TRY(check_precision(job.precisions, job.cluster->accelerator));
  }
  FORETRACE_TRY(check_length(job));
  FORETRACE_TRY(check_batch(job));
  const std::uint64_t positions = std::uint64_t{job.plan.pipeline} * job.chunks;
  if (positions > job.model->layers) {
    return refuse("/parallelism/pipeline",
                  fmt::format("got {} stages x {} chunks, expected at most the {} layers",
                              job.plan.pipeline, job.chunks, job.model->layers));
  }
  FORETRACE_TRY(check_stages(job));
  // Between its two backward passes a micro-batch would need all that was computed again.
  if (job.schedule->splits_backward && job.recompute == Recompute::full) {
    return refuse("/recompute", fmt::format("got full, expected none or selective: {} delays "
                                            "gradients of weights, which need the activations",
                                            job.schedule->name));
  }
  const ScheduleShape shape{job.plan.pipeline, job.micro_batches(), job.chunks};
  FORETRACE_TRY(check_shape(*job.schedule, shape).with_context("/schedule"));
  return ok_status();
}

Placement placement_of(const Job& job, Axis axis) {
  return place(*job.cluster, axis_of(job.plan, axis));
}

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

// What a machine does once per pass, before the model's own blocks.
void add_start(const ExecModel& model, JobBlocks& blocks) {
  if (!(model.start_ns() > 0)) return;
  Action action;
  action.source = CostSource::start;
  action.provenance = model.machine().provenance;
  action.ns = model.start_ns();
  action.name = "start of the inference";
  RankBlock block{BlockRole::embedding, "start of the inference", {}};
  block.program.forward.push_back(action);
  blocks.order.insert(blocks.order.begin(), {static_cast<std::uint32_t>(blocks.blocks.size()), 1});
  blocks.blocks.push_back(std::move(block));
}

}  // namespace

KernelSet kernel_set(const Job& job) {
  KernelSet set = job.framework->kernels;
  // Numbers of other precisions come as their units take them.
  set.channels_first = set.channels_first && job.precisions.activations == Precision::tf32;
  return set;
}

JobBlocks lower_blocks(const Job& job) {
  if (job.has_own_ranks()) return lower_stages(job);
  KernelTimes kernels(*job.cluster, *job.framework, job.precisions);
  BatchShape batch;
  batch.sequences = job.micro_batch;
  batch.length = job.pass == Pass::decode ? 1 : job.length;
  batch.keys = job.pass == Pass::decode ? job.keys : job.length;
  batch.pass = job.pass;
  batch.number_bytes = kernels.number_bytes();
  // A micro-batch in training is long enough to reach all of them.
  if (!job.trains()) batch.expert_batches = expert_batches(job.plan);
  Workload workload = build_transformer(*job.model, batch, kernel_set(job));
  ParallelPlan plan = job.plan;
  plan.async_tensor_backward = plan.async_tensor_backward && job.framework->overlaps_tensor;
  plan.balances_context = plan.balances_context && job.framework->balances_context;
  plan.tensor_pieces = job.framework->pipelines_tensor;
  if (job.model->is_recorded()) {
    complete_recorded(workload, plan);
  } else {
    divide(workload, plan);
  }
  kernels.set_weights(weights_of(workload));

  std::array<Placement, axis_count> places;
  for (std::size_t i = 0; i < axis_count; ++i) places[i] = placement_of(job, static_cast<Axis>(i));
  LoweringOptions options{kernels, *job.framework};
  options.recompute = job.recompute;
  options.trains = job.trains();
  options.splits_backward = job.schedule->splits_backward;
  options.tensor_ranks = plan.tensor;
  options.collective = [&](Axis axis, CollectiveKind kind, double bytes) {
    if (axis == Axis::expert && job.framework->forwards_tokens) {
      return forwarded(job, places[static_cast<std::size_t>(axis)], bytes);
    }
    return collective_time(*job.cluster, {kind, bytes, places[static_cast<std::size_t>(axis)]});
  };
  options.leaves_node = [&](Axis axis) { return places[static_cast<std::size_t>(axis)].nodes > 1; };

  JobBlocks result;
  result.order = workload.order;
  if (workload.ties_embeddings) {
    result.tied_weights = job.model->vocabulary * job.model->hidden / plan.tensor;
  }
  result.hidden_bytes = batch.tokens() * job.model->hidden * batch.number_bytes / plan.context;
  result.blocks.reserve(workload.blocks.size());
  for (const Block& block : workload.blocks) {
    result.blocks.push_back({block.role, block.name, lower(block, options)});
  }
  if (kernels.exec_model() != nullptr) add_start(*kernels.exec_model(), result);
  result.attention_intensity = kernels.attention_intensity();
  return result;
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

double clock_share(const Job& job) { return has_free_clock(job) ? waiting_share(job) : 0; }

SourceScale settled_scale(const Job& job, const JobBlocks& lowered) {
  SourceScale scale = no_scale();
  if (!has_free_clock(job)) return scale;
  const double now = settled_clock(job, lowered);
  for (const CostSource source : {CostSource::product, CostSource::attention}) {
    scale[static_cast<std::size_t>(source)] =
        clock_factor(job.cluster->accelerator.sustained_clock, now, source);
  }
  return scale;
}

JobBlocks build_blocks(const Job& job) {
  JobBlocks blocks = lower_blocks(job);
  if (!has_free_clock(job)) return blocks;
  const SustainedClock& clock = job.cluster->accelerator.sustained_clock;
  blocks.clock = settled_clock(job, blocks);
  for (RankBlock& block : blocks.blocks) {
    BlockProgram& program = block.program;
    for (auto* actions : {&program.forward, &program.backward, &program.weight_gradients}) {
      for (Action& action : *actions) {
        if (action.source == CostSource::product || action.source == CostSource::attention) {
          action.ns *= clock_factor(clock, blocks.clock, action.source);
        }
      }
    }
  }
  return blocks;
}

std::vector<BlockTimes> time_blocks(const Job& job, const JobBlocks& blocks,
                                    const SourceScale& scale) {
  std::vector<BlockTimes> times;
  times.reserve(blocks.blocks.size());
  for (const RankBlock& block : blocks.blocks) {
    const BlockProgram& program = block.program;
    BlockTimes time;
    time.role = block.role;
    time.forward = time_of(program.forward, *job.framework, scale);
    time.backward = time_of(program.backward, *job.framework, scale);
    time.weights = time_of(program.weight_gradients, *job.framework, scale);
    time.dense_weights = program.dense_weights;
    time.gradients = program.gradients;
    time.tensors = program.tensors;
    time.traveling = program.traveling;
    time.expert_weights = program.expert_weights;
    time.kept_bytes = program.kept_bytes;
    time.working_bytes = program.working_bytes;
    time.input_bytes = program.input_bytes;
    time.window = program.window;
    times.push_back(time);
  }
  return times;
}

std::vector<std::vector<BlockRun>> partition(const std::vector<BlockRun>& order,
                                             const std::vector<BlockTimes>& blocks,
                                             std::vector<std::uint32_t> layers) {
  std::vector<std::vector<BlockRun>> result(layers.size());
  std::uint32_t at = 0;
  for (const BlockRun& run : order) {
    const BlockRole role = blocks[run.block].role;
    if (role == BlockRole::embedding) {
      result.front().push_back(run);
      continue;
    }
    if (role == BlockRole::head) {
      result.back().push_back(run);
      continue;
    }
    for (std::uint32_t left = run.count; left > 0;) {
      while (layers[at] == 0) ++at;
      const std::uint32_t taken = std::min(left, layers[at]);
      result[at].push_back({run.block, taken});
      layers[at] -= taken;
      left -= taken;
    }
  }
  return result;
}

}  // namespace foretrace
