#include "apps/serving/step_cost.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/kernels/kernel_class.h"
#include "models/jobs/parallelism/plan.h"
#include "models/jobs/program/job.h"
#include "models/jobs/times/evidence.h"
#include "models/jobs/times/exec_work.h"
#include "models/jobs/workloads/transformer.h"
#include "sim/core/params.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

// Logits are cast to fp32 (2 read, 4 written), and the softmax and the draw read them once each.
constexpr double draw_bytes_per_logit = 14;
constexpr std::uint32_t draw_kernels = 4;

ParallelPlan plan_of(const ServedModel& served) {
  ParallelPlan plan;
  plan.tensor = served.tensor;
  return plan;
}

/// Layers of one accelerator when this many tokens go through the model.
Workload workload_of(const ServedModel& served, double tokens) {
  BatchShape batch;
  batch.sequences = std::max(1.0, tokens);
  batch.length = 1;
  batch.keys = 1;
  batch.pass = Pass::decode;
  batch.number_bytes = std::max(1, bytes_per_number(served.precisions.activations));
  batch.product_bytes = batch.number_bytes;
  Workload workload = build_transformer(*served.model, batch, served.framework->kernels);
  divide(workload, plan_of(served));
  return workload;
}

Placement tensor_group(const ServedModel& served) {
  return place(*served.cluster, axis_of(plan_of(served), Axis::tensor));
}

/// Every rank of the group sees all tokens and has a part of each expert, or some experts whole.
Operator expert_part(const Operator& op, const ServedModel& served) {
  const double spread = served.experts;
  const double divided = served.tensor / spread;
  Operator part = op;
  if (op.type != OperatorType::product) {
    part.shape.n /= divided;
    part.shape.m /= spread;
    return part;
  }
  // The batch of the shape are experts that tokens reach; a rank reads one at least.
  const double tokens = op.shape.batch * op.shape.m;
  part.shape.batch = std::max(1.0, op.shape.batch / spread);
  part.shape.m = tokens / spread / part.shape.batch;
  (op.split == Split::columns ? part.shape.n : part.shape.k) /= divided;
  return part;
}

/// Who writes one token attends to the low ranks as they are cached: every head to the same
/// numbers.
void read_low_ranks(const LatentSpec& latent, AttentionPart& part) {
  if (!(latent.key_rank > 0)) return;
  part.head_size = latent.key_rank + latent.rope_size;
  part.value_size = latent.key_rank;
  part.key_heads = part.head_size / (part.head_size + part.value_size);
}

double stored_bytes(const ServedModel& served, const Operator& op) {
  const double whole = std::max(1, bytes_per_number(served.precisions.activations));
  if (op.keeps_precision || op.type != OperatorType::product) return whole;
  const bool is_stored_small = served.model->experts.count == 0 || op.is_expert;
  const double usual = served.precisions.layers_in_8_bit ? 1 : whole;
  return is_stored_small ? std::min(usual, served.weight_bytes) : usual;
}

}  // namespace

Status check_served(const ServedModel& served) {
  const auto refuse = [](std::string_view at, const std::string& what) {
    return Error{ErrorCode::bad_config, fmt::format("{}: {}", at, what)};
  };
  if (served.model->layered != nullptr) {
    return refuse("/model", "a sample has no tokens, got a model of layers, expected a decoder");
  }
  if (const Status fine = check_plan(plan_of(served), *served.model); !fine) {
    return Error{fine.error().code, "/parallelism/" + fine.error().message};
  }
  if (!served.model->causal) {
    return refuse("/model", "it encodes text and generates none, expected a decoder");
  }
  if (served.tensor > served.cluster->accelerators()) {
    return refuse("/parallelism/tensor",
                  fmt::format("got {}, expected at most the {} accelerators", served.tensor,
                              served.cluster->accelerators()));
  }
  const std::uint32_t count = served.model->experts.count;
  const bool divides = count > 0 && served.experts > 0 && count % served.experts == 0;
  if (served.experts == 0 || served.tensor % served.experts != 0 ||
      (served.experts > 1 && !divides)) {
    return refuse("/parallelism/experts",
                  fmt::format("got {}, expected a divisor of the {} accelerators and of the {} "
                              "experts",
                              served.experts, served.tensor, served.model->experts.count));
  }
  if (served.framework->kernels.attention == AttentionKernel::unfused) {
    return refuse("/engine", fmt::format("its framework {} has no fused attention, which a cache "
                                         "in blocks needs",
                                         in_quotes(served.framework->name)));
  }
  return check_precision(served.precisions, served.cluster->accelerator);
}

double StepWork::tokens() const {
  double sum = writers;
  for (const PromptPart& part : prompts) sum += part.tokens;
  return sum;
}

double StepTime::total() const {
  double sum = 0;
  for (const double ns : by_source) sum += ns;
  return sum;
}

StepCost::StepCost(const ServedModel& served)
    : served_(served), kernels_(*served.cluster, *served.framework, served.precisions) {
  const Workload one = workload_of(served, 1);
  const TransformerSpec& spec = *served.model;
  const double cached = spec.latent.key_rank > 0
                            ? spec.latent.key_rank + spec.latent.rope_size
                            : 2 * std::max(1.0, spec.kv_heads / served.tensor) * spec.head_size;
  for (const BlockRun& run : one.order) {
    const Block& block = one.blocks[run.block];
    for (const Operator& op : block.operators) {
      const double share = op.is_expert ? served.tensor : 1;  // divided here, not by the plan
      const bool is_tied =
          one.ties_embeddings && block.role == BlockRole::head && op.type == OperatorType::product;
      if (!is_tied) weight_bytes_ += run.count * op.weights / share * stored_bytes(served, op);
      if (op.type != OperatorType::attention) continue;
      attention_.push_back({op, static_cast<double>(run.count)});
      cache_bytes_ += run.count * cached * served.cache_bytes;
    }
  }
}

// What the largest operator reads and writes, or the logits and what they are cast to.
double StepCost::working_bytes(double tokens, double sequences) const {
  const double number = kernels_.number_bytes();
  constexpr double cast = 4;
  double most = sequences * served_.model->vocabulary / served_.tensor * (number + cast);
  for (const Block& block : workload_of(served_, tokens).blocks) {
    if (block.role == BlockRole::head) continue;
    for (const Operator& op : block.operators) {
      const Operator part = op.is_expert ? expert_part(op, served_) : op;
      if (part.type != OperatorType::attention) most = std::max(most, live_bytes(part, number));
    }
  }
  return most;
}

void StepCost::add_exchange(const Exchange& exchange, double count, StepTime& time) const {
  if (exchange.kind == CollectiveKind::none || served_.tensor <= 1) return;
  const Placement group = tensor_group(served_);
  CollectiveTime one = collective_time(*served_.cluster, {exchange.kind, exchange.bytes, group});
  const double link = served_.cluster->link_bandwidth;
  if (exchange.kind == CollectiveKind::all_reduce && served_.one_shot_ns > 0 && group.nodes == 1 &&
      link > 0) {
    one.ns =
        std::min(one.ns, served_.one_shot_ns + (group.ranks - 1) * exchange.bytes / link * 1e9);
  }
  const CostSource source = group.nodes > 1 ? CostSource::network : CostSource::local;
  time.by_source[static_cast<std::size_t>(source)] += count * one.ns;
}

void StepCost::add(const Operator& op, double tokens, double count, StepTime& time) const {
  if (op.type == OperatorType::attention) return;
  if (op.type == OperatorType::combine) {
    // Ranks add up what their parts of the experts gave.
    const double bytes = tokens * served_.model->hidden * kernels_.number_bytes();
    add_exchange({CollectiveKind::all_reduce, Axis::tensor, Overlap::none, bytes}, count, time);
    return;
  }
  add_exchange(op.forward, count, time);
  const Operator part = op.is_expert ? expert_part(op, served_) : op;
  const double stored = stored_bytes(served_, op);
  const double usual = served_.precisions.layers_in_8_bit ? 1 : kernels_.number_bytes();
  const bool is_small = op.type == OperatorType::product && stored < usual;
  const KernelTime kernel =
      is_small ? kernels_.stored_product(part, stored) : kernels_.forward(part);
  time.by_source[static_cast<std::size_t>(kernel.source)] += count * kernel.ns;
  if (op.type != OperatorType::product) return;
  time.least_ns += count * part.shape.batch * part.shape.k * part.shape.n * stored /
                   served_.cluster->accelerator.memory_bandwidth * 1e9;
}

StepTime StepCost::dense(std::uint32_t tokens, bool head) {
  auto& known = head ? head_ : body_;
  if (const auto found = known.find(tokens); found != known.end()) return found->second;
  StepTime time;
  const Workload workload = workload_of(served_, tokens);
  for (const BlockRun& run : workload.order) {
    const Block& block = workload.blocks[run.block];
    if ((block.role == BlockRole::head) != head) continue;
    for (const Operator& op : block.operators) add(op, tokens, run.count, time);
  }
  if (head) {
    const KernelTime draw = kernels_.move(
        static_cast<double>(tokens) * served_.model->vocabulary * draw_bytes_per_logit,
        draw_kernels);
    time.by_source[static_cast<std::size_t>(draw.source)] += draw.ns;
  }
  return known.emplace(tokens, time).first->second;
}

// One kernel for prompts and writers has tiles of several queries of one head: a writer fills one
// row of it, and each head computes with the keys by itself. Without prompts the heads that share
// keys are the rows. Keys still leave memory once: these heads run side by side.
KernelTime StepCost::attend(const Operator& op, bool beside_prompts) const {
  const bool has_tiles = beside_prompts && !(served_.model->latent.key_rank > 0);
  const double bytes = std::min(served_.cache_bytes, kernels_.number_bytes());
  return kernels_.cached_attention(op, bytes, has_tiles ? served_.query_tile : 0);
}

void StepCost::add_attention(const StepWork& work, StepTime& time) const {
  const auto book = [&time](const KernelTime& kernel, double count) {
    time.by_source[static_cast<std::size_t>(kernel.source)] += count * kernel.ns;
  };
  for (const Attention& layer : attention_) {
    const double window = layer.op.attention.window;
    const auto seen = [window](double keys) { return window > 0 ? std::min(window, keys) : keys; };
    Operator op = layer.op;
    op.attention.causal = false;
    op.attention.window = 0;
    if (work.writers > 0) {
      Operator one = op;
      read_low_ranks(served_.model->latent, one.attention);
      one.shape.batch = work.writers;
      one.attention.queries = 1;
      one.attention.keys = seen(work.writer_keys / work.writers);
      book(attend(one, !work.prompts.empty()), layer.count);
    }
    for (const PromptPart& part : work.prompts) {
      // A query sees what is before the part, and of the part half on average.
      op.shape.batch = 1;
      op.attention.queries = part.tokens;
      op.attention.keys = seen(part.before + (part.tokens + 1) / 2);
      book(attend(op, false), layer.count);
    }
  }
}

double StepTime::at(double factor) const {
  const double whole = total();
  return std::max(whole * factor, std::min(least_ns, whole));
}

StepTime StepCost::of(const StepWork& work) {
  const auto tokens = to_count(work.tokens());
  StepTime time = dense(std::max(1U, tokens), false);
  const auto drawn = to_count(work.drawn);
  if (drawn > 0) {
    const StepTime head = dense(drawn, true);
    for (std::size_t i = 0; i < cost_source_count; ++i) time.by_source[i] += head.by_source[i];
    time.least_ns += head.least_ns;
  }
  add_attention(work, time);
  return time;
}

Ranged StepCost::spread(const StepTime& time) const {
  const bool is_known = kernels_.err_together(CostSource::product, CostSource::framework);
  if (!is_known) {
    const auto evidence =
        evidence_range(*served_.framework, MeasuredKind::decoding,
                       served_.cluster->accelerator.name, served_.tensor * served_.experts);
    if (evidence) return evidence->factor;
  }
  double below = 0;
  double above = 0;
  const double total = std::max(time.total(), 1e-9);
  for (std::size_t i = 0; i < cost_source_count; ++i) {
    const auto source = static_cast<CostSource>(i);
    const Ranged range = kernels_.spread(source);
    double share = 0;
    for (std::size_t j = 0; j < cost_source_count; ++j) {
      if (kernels_.err_together(source, static_cast<CostSource>(j))) {
        share += time.by_source[j] / total;
      }
    }
    below += std::pow(share * (1 - range.low), 2);
    above += std::pow(share * (range.high - 1), 2);
  }
  return {1, 1 - std::sqrt(below), 1 + std::sqrt(above)};
}

}  // namespace foretrace
