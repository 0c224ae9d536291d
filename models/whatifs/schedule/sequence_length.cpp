// Sequence length: every sample has more or fewer positions; attention grows with their square.
//
//   before   [gemm: b s rows 1.0 ms][scores: s x s 0.2 ms][softmax 0.1 ms][values 0.2 ms][gemm ...]
//   after    [gemm: 2.0 ms         ][scores: 0.8 ms      ][softmax 0.4 ms][values 0.8 ms]  factor=2
//   Kernels on positions scale by the model of their shapes, as in batch_size. Those between the
//   product of the scores and the one with the values, and fused attention, scale twice. The host
//   does what it did; transfers of activations and copies of input grow.
//
// memory    activations x factor, scores and their softmax x factor squared; the rest stays.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/editing/batches/position_resize.h"
#include "models/whatifs/what_if.h"

namespace foretrace::sequence_length_parts {
namespace {

constexpr ParamInfo factor_param = {.name = "factor",
                                    .unit = "x",
                                    .doc = "New number of positions / recorded one.",
                                    .minimum = 0.001,
                                    .maximum = 4096};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  editing::KernelEditor editor(scenario);
  const double factor = params.number(factor_param);
  FORETRACE_TRY(auto resizer, editing::PositionResizer::make(editor));
  const editing::PositionFactors factors{factor, factor * factor, factor * factor};
  FORETRACE_TRY(resizer.resize(factors));
  TensorEditor tensors(editor.edit());
  resizer.resize_memory(tensors, factors);
  std::string text = fmt::format(
      "{}; {:.2f} ms of it attention, which grows with the square; compare the time "
      "per token: a step has {:g} times as many",
      editor.sums_text(), editing::to_ms(resizer.attention_ns()), factor);
  text += resizer.copies().text();
  if (resizer.transfers() > 0) {
    text += fmt::format("; {} transfers of activations grow", resizer.transfers());
  }
  Change change = editor.finish(text + tensors.note());
  if (factor != 1) resizer.say_unknown(change);
  return change;
}

constexpr std::array<std::string_view, 4> assumptions = {
    "Every sample has as many positions as the others, all of them computed (no packing, no mask "
    "that skips blocks beyond what the recorded kernels skip).",
    "Queries are as long as keys: training, or the prompt of inference.",
    "Activations have their positions beside the batch in the leading dimensions.",
    "Kernels without recorded shapes grow in proportion, inside of attention with the square; in "
    "the range they may also stay. Above a third of the time the answer is low-confidence. Copies "
    "change as in batch_size."};
constexpr std::array<std::string_view, 3> ignores = {
    "kernels that libraries pick for other sizes, beyond the model of tiles",
    "host work per token: tokenizing, collating",
    "tables of positions, and whether the longer sequence fits into memory"};
constexpr std::array params = {factor_param};
constexpr std::array<std::string_view, 1> conflicts = {"batch_size"};

constexpr std::array trends = {Trend{&factor_param, Larger::is_slower}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "sequence_length",
    .summary = "Change the number of positions per sample; attention grows with the square.",
    .paper =
        "A. Vaswani et al., Attention Is All You Need, NeurIPS 2017 (table 1); V. Korthikanti et "
        "al., Reducing Activation Recomputation in Large Transformer Models, MLSys 2023",
    .recipe =
        "Every forward and backward kernel takes its measured time x the model time of its shape "
        "with `factor` times the rows / that of the recorded shape; kernels from the scores to the "
        "product with the values, and fused attention, with the square of it.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "nothing: two recordings at different lengths check the square.",
    .identity = {.setting = "factor=1"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::workload,
    .conflicts = conflicts};

}  // namespace foretrace::sequence_length_parts
