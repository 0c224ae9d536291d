// Sequence packing: short samples share rows, so that nothing is computed on padding.
//
//   before   row 1 [sample 1 ....... padding]   row 2 [sample 2 ... padding ....]     fill = 0.5
//   after    row 1 [sample 1 .......|sample 2 ...]                                    half the rows
//   Kernels on positions do the share of the rows that holds tokens. Fused attention does the pairs
//   within each sample; attention of single operators masks what lies between samples, and does
//   full rows.
//
// memory    activations x the rows that are left.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/editing/batches/batch_resize.h"
#include "models/editing/batches/position_resize.h"
#include "models/whatifs/what_if.h"
#include "sim/core/text.h"

namespace foretrace::sequence_packing_parts {
namespace {

constexpr ParamInfo fill_param = {
    .name = "fill",
    .unit = "1",
    .doc = "Mean length of a sample / padded length: the share of positions that contain tokens.",
    .minimum = 0.001,
    .maximum = 1};
constexpr ParamInfo variation_param = {.name = "variation",
                                       .unit = "1",
                                       .default_text = "0.5",
                                       .doc =
                                           "Standard deviation of the lengths / their mean; 0.58 "
                                           "where every length is equally frequent.",
                                       .minimum = 0,
                                       .maximum = 10,
                                       .optimistic = "0",
                                       .pessimistic = "1"};
constexpr ParamInfo packed_param = {
    .name = "packed",
    .unit = "1",
    .default_text = "0.98",
    .doc = "Share of the packed positions that contain tokens: packing leaves gaps.",
    .minimum = 0.1,
    .maximum = 1,
    .optimistic = "1",
    .pessimistic = "0.9"};

/// Whether tokens are looked up in a table. Positions of images are cut out by a convolution.
bool are_patches(const editing::KernelEditor& editor) {
  bool convolves = false;
  for (const TaskId kernel : editor.kernels()) {
    const std::string_view op = editor.operator_of(kernel);
    const OperatorInputs inputs = editor.inputs_of(kernel);
    const Dims* first = inputs.shape(0);
    // Narrow rows are boxes and the like.
    constexpr std::int64_t narrowest_table = 16;
    const bool selects_rows = op == "aten::index_select" && first != nullptr &&
                              first->size() == 2 && first->back() >= narrowest_table;
    if (contains(op, "embedding") || selects_rows) return false;
    convolves = convolves || (contains(op, "conv") && first != nullptr && first->size() == 4);
  }
  return convolves;
}

/// Recordings that say that no position is empty.
Status expect_padding(const editing::KernelEditor& editor) {
  if (are_patches(editor)) {
    return Error{ErrorCode::no_match,
                 "positions are patches of images (convolutions, and no token is looked up), which "
                 "are never padded, expected sequences of tokens"};
  }
  const std::int64_t tokens = editing::BatchResizer(editor, 0).tokens();
  if (tokens == 0) return ok_status();
  return Error{ErrorCode::no_match,
               fmt::format("attention takes a flat list of {} tokens, of sequences of any length: "
                           "they are packed already, expected a padded batch",
                           tokens)};
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  editing::KernelEditor editor(scenario);
  FORETRACE_TRY(expect_padding(editor));
  FORETRACE_TRY(auto resizer, editing::PositionResizer::make(editor));
  const double fill = params.number(fill_param);
  if (fill == 1) return editor.finish("every position contains a token: nothing to pack");
  const double variation = params.number(variation_param);
  const double rows = fill / params.number(packed_param);
  if (rows >= 1) {
    return Error{ErrorCode::no_match,
                 fmt::format("packing saves nothing: {:.1f} % of the positions contain tokens "
                             "already, and packed rows would be filled to {:.1f} %",
                             100 * fill, 100 * params.number(packed_param))};
  }
  // The mean square of the lengths; no sample is longer than a row.
  const double pairs = std::min(fill * fill * (1 + variation * variation), fill);
  const editing::PositionFactors factors{rows, pairs, rows};
  FORETRACE_TRY(resizer.resize(factors));
  TensorEditor tensors(editor.edit());
  resizer.resize_memory(tensors, factors);
  std::string text = fmt::format(
      "the same samples in {:.1f} % of the rows: {}; attention of {:.2f} ms does {:.1f} % of its "
      "pairs",
      100 * rows, editor.sums_text(), editing::to_ms(resizer.attention_ns()),
      100 * (resizer.has_fused() ? pairs : rows));
  if (resizer.has_fused() && resizer.has_single()) {
    text +=
        fmt::format(" where it is one kernel, {:.1f} % where it is single operators", 100 * rows);
  }
  text += resizer.copies().text();
  if (resizer.transfers() > 0) {
    text += fmt::format("; {} transfers of activations shrink", resizer.transfers());
  }
  Change change = editor.finish(text + tensors.note());
  resizer.say_unknown(change);
  return change;
}

constexpr std::array<std::string_view, 5> assumptions = {
    "The recorded batch is padded to one length (images and flat lists of tokens are declined), "
    "and `fill` is the mean of many batches; a trace does not record padding.",
    "Fused attention takes lengths (a varlen kernel or a mask of blocks) and does the pairs within "
    "each sample: fill x fill x (1 + variation x variation) of those recorded.",
    "Attention of single operators gets a mask and does whole rows.",
    "A step has the samples that it had, in fewer rows; losses and learning rates are set for it.",
    "Samples fill `packed` of the packed rows: 98 to 99.8 % in the paper."};
constexpr std::array<std::string_view, 4> ignores = {
    "sorting samples into rows, on the host ahead of time",
    "kernels that libraries pick for other sizes, beyond the model of tiles",
    "the last row of a batch, which may be short",
    "normalization or losses that average over rows"};
constexpr std::array params = {fill_param, variation_param, packed_param};
constexpr std::array<std::string_view, 2> conflicts = {"batch_size", "sequence_length"};

constexpr std::array trends = {Trend{&fill_param, Larger::is_slower}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "sequence_packing",
    .summary = "Put several short samples into one row instead of padding each.",
    .paper =
        "M. Krell, M. Kosec, S. Perez, A. Fitzgibbon, Efficient Sequence Packing without "
        "Cross-contamination, 2021; J. Zeng et al., Boosting Distributed Training Performance of "
        "the Unpadded BERT Model, 2022",
    .recipe =
        "Every forward and backward kernel takes its measured time x the model time of its shape "
        "with fill / packed of the rows / that of the recorded shape; fused attention with the "
        "pairs of positions within samples, attention of single operators with fill / packed.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "fill, variation: lengths of the samples after the tokenizer.",
    .identity = {.setting = "fill=1"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::workload,
    .conflicts = conflicts};

}  // namespace foretrace::sequence_packing_parts
