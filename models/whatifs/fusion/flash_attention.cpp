// Flash attention: scores, softmax and weighted values become one kernel that never writes scores.
//
//   before   launch -> q k^T, launch -> scale, launch -> softmax, launch -> dropout, launch -> p v
//   after    launch -> flash attention          (backward: five kernels or more become one)
//   Every softmax between batched products goes with them, with the launches and the host time
//   between them, casts around it included. Bytes: queries, keys, values and the result once,
//   instead of the square of the sequence several times.
//
// memory    the scores and probabilities, b q k numbers each, are no longer kept for backward; one
//           number per query (the log-sum-exp) is.
#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "models/editing/kernels/attention_core.h"
#include "models/editing/kernels/kernel_editor.h"
#include "models/whatifs/what_if.h"
#include "sim/edit/tensors.h"

namespace foretrace::flash_attention_parts {
namespace {

constexpr ParamInfo efficiency_param = {
    .name = "efficiency",
    .unit = "x",
    .default_text = "1",
    .doc = "Rate of the fused kernel / 0.60 of the sustained rate of large products.",
    .minimum = 0.01,
    .maximum = 2,
    .optimistic = "1.4",
    .pessimistic = "0.5"};
constexpr ParamInfo backward_param = {.name = "backward",
                                      .type = ParamType::boolean,
                                      .default_text = "true",
                                      .doc = "Fuse the backward of attention, too."};

// b heads of q x k x d; forward reads q, k, v and writes o, backward twice that. At efficiency 1
// the kernel runs at attention's usual share of the sustained rate.
Result<Cost> fused_cost(const editing::KernelEditor& editor, const editing::AttentionCore& core,
                        double efficiency) {
  // Without shapes the arithmetic stays as long as it was, and the rest vanishes.
  const Cost by_products{core.products_ns, Provenance::assumed, 0.5F, 1.5F};
  if (!core.scores || editor.accelerator() == nullptr) return by_products;
  const GemmShape& s = *core.scores;
  KernelDescription fused;
  fused.traits = editor.about(core.kernels.front()).traits;
  fused.traits.kernel_class = KernelClass::attention;
  fused.traits.compute_bound = true;
  const double passes = core.backward ? 2.5 : 1.0;
  fused.amount.flops = 4 * s.batch * s.m * s.n * s.k * passes;
  fused.amount.numbers = (2 * s.m + 2 * s.n) * s.batch * s.k * (core.backward ? 2 : 1);
  auto cost = roofline_cost(fused, {editor.accelerator(), fused.traits.precision, efficiency},
                            "the fused attention kernel");
  return cost ? cost : Result<Cost>(by_products);
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  editing::KernelEditor editor(scenario);
  const bool backward = params.boolean(backward_param);
  editing::FusedCores fused;
  for (const editing::AttentionCore& core : editing::find_attention_cores(editor)) {
    if (core.backward && !backward) continue;
    FORETRACE_TRY(auto cost, fused_cost(editor, core, params.number(efficiency_param)));
    const TaskId put =
        editing::replace_core(editor, core,
                              {core.backward ? "flash attention backward" : "flash attention",
                               editing::core_work(editor, core), cost});
    if (put != none<TaskId>) fused.add(editor, core);
  }
  if (editor.untouched()) {
    return Error{ErrorCode::no_match,
                 "no softmax between batched matrix products, expected attention that is made of "
                 "single operators (fused attention is left as it is)"};
  }
  std::string note = fmt::format("{} attentions, {} with known shapes: {}", fused.count(),
                                 fused.with_shapes(), editor.sums_text());
  if (fused.kept_bytes() > 0) {
    note += fmt::format("; {:.1f} MB of probabilities are no longer written in the forward passes",
                        fused.kept_bytes() * 1e-6);
  }
  TensorEditor tensors(editor.edit());
  fused.drop_scores(editor, tensors);
  return editor.finish(note + tensors.note());
}

constexpr std::array<std::string_view, 4> assumptions = {
    "A softmax between batched matrix products, with nothing but pointwise kernels and casts "
    "between them, is attention with a head size and a mask that the fused kernel supports.",
    "The fused kernel does 4 b q k d FLOPs forward and 2.5 times that backward, moves queries, "
    "keys, values and result once, and reaches 0.60 of the rate of large products (30 to 73 % of "
    "the peak in the papers).",
    "Masks and dropout cost nothing inside the fused kernel.",
    "Without known shapes its time is that of the matrix products it replaces."};
constexpr std::array<std::string_view, 3> ignores = {
    "blocks that a causal mask skips: up to half of the work",
    "transposes before and after that another layout would save or add",
    "split kernels and extra launches of the backward"};
constexpr std::array params = {efficiency_param, backward_param};
// They change what attention works on, and shapes stay as they were recorded.
constexpr std::array<std::string_view, 3> conflicts = {"batch_size", "sequence_length",
                                                       "sequence_packing"};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "flash_attention",
    .summary = "Fuse scores, softmax and weighted values into one kernel.",
    .paper =
        "T. Dao et al., FlashAttention: Fast and Memory-Efficient Exact Attention with "
        "IO-Awareness, NeurIPS 2022; T. Dao, FlashAttention-2, ICLR 2024",
    .recipe =
        "Every run of kernels from the batched product of the scores over its softmax to the "
        "batched product with the values is replaced by one launch and one kernel whose time "
        "is a roofline over 4 b q k d FLOPs and the bytes of queries, keys, values and "
        "result; backward likewise with 2.5 times the work.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "efficiency: time of scaled_dot_product_attention at the shape of the model.",
    .identity =
        {.none_because =
             "attention of single operators becomes one kernel; where none is left, it declines"},
    .params = params,
    .apply = apply,
    .conflicts = conflicts};

}  // namespace foretrace::flash_attention_parts
