// Reconstructed batch norm: statistics and ReLU move into the convolutions around it.
//
//   before   [conv][batch norm: statistics | normalize][relu][conv]
//   after    [conv + statistics][1/2 batch norm]             [normalize + relu + conv]
//   ReLU kernels beside a batch norm go with their launches, forward and backward; the batch norm
//   kernels take `factor` of their time; the convolutions keep theirs.
//
// memory    (where tensors are recorded) the normalized map of each batch norm whose ReLU goes and
//           is followed by a convolution is not kept, nor the ReLU's; gradients of maps stay.
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/data_neighbours.h"
#include "models/editing/kernels/kernel_names.h"
#include "models/editing/tensors/tensor_makers.h"
#include "models/whatifs/what_if.h"
#include "sim/edit/tensors.h"

namespace foretrace::reconstructed_batch_norm_parts {
namespace {

constexpr ParamInfo factor_param = {
    .name = "factor",
    .unit = "x",
    .default_text = "0.5",
    .doc = "New time of batch norm kernels / old, after their ramp-up.",
    .minimum = 0,
    .maximum = 1,
    .optimistic = "0.5",
    .pessimistic = "0.8"};
constexpr ParamInfo relu_param = {
    .name = "relu",
    .type = ParamType::text,
    .default_text = "beside",
    .doc = "Which ReLU kernels are removed: those beside a batch norm, all, or none.",
    .choices = "beside|all|none"};

// Forward the ReLU follows the batch norm, backward its gradient comes before.
bool beside_batch_norm(const editing::KernelEditor& editor, TaskId relu) {
  const bool backward = editor.graph().phase(relu) == Phase::backward;
  const TaskId next = editing::data_after(editor.graph(), relu);
  const TaskId previous = editing::data_before(editor.graph(), relu);
  const TaskId neighbour = backward ? next : previous;
  return neighbour != none<TaskId> && editor.graph().kind(neighbour) == TaskKind::kernel &&
         editing::is_batch_norm(editor, neighbour);
}

// Forward, the kernel that the stream runs next belongs to a convolution.
bool before_convolution(const editing::KernelEditor& editor, TaskId relu) {
  const TaskId next = editing::data_after(editor.graph(), relu);
  if (editor.graph().phase(relu) == Phase::backward || next == none<TaskId>) return false;
  return editor.operator_of(next).find("conv") != std::string_view::npos ||
         (editor.graph().kind(next) == TaskKind::kernel &&
          editor.class_of(next) == KernelClass::convolution);
}

// Results of forward batch norms and ReLUs that are merged into the next convolution: it reads the
// map before the batch norm, which is kept anyway.
void forget_maps(editing::KernelEditor& editor, const std::set<TaskId>& merged,
                 TensorEditor& tensors) {
  const std::vector<Tensor>& all = editor.graph().context().tensors;
  if (all.empty() || merged.empty()) return;
  const std::vector<TaskId> makers = editing::find_makers(editor);
  const std::vector<bool> side = editing::find_side_results(editor.graph());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (editing::is_result(all[i].category) && !side[i] && merged.contains(makers[i])) {
      tensors.drop(i);
    }
  }
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  editing::KernelEditor editor(scenario);
  const double factor = params.number(factor_param);
  const bool all = params.text(relu_param) == "all";
  const bool none_goes = params.text(relu_param) == "none";
  bool found = false;
  for (const TaskId kernel : editor.kernels()) {
    if (editing::is_batch_norm(editor, kernel)) {
      const Cost cost = editing::moved_share(scenario.graph.duration_ns(kernel),
                                             KernelClass::normalization, factor);
      editor.set(kernel, cost);
      found = true;
    }
  }
  if (!found) return Error{ErrorCode::no_match, "no batch normalization kernel"};
  std::set<TaskId> merged;
  for (const TaskId kernel : editor.kernels()) {
    if (none_goes || !editing::is_relu(editor, kernel)) continue;
    const bool beside = beside_batch_norm(editor, kernel);
    if (!all && !beside) continue;
    editor.remove(kernel, SegmentOf::take);
    if (!beside || !before_convolution(editor, kernel)) continue;
    merged.insert(kernel);
    merged.insert(editing::data_before(editor.graph(), kernel));
  }
  TensorEditor tensors(editor.edit());
  forget_maps(editor, merged, tensors);
  return editor.finish(fmt::format(
      "{} batch norms shorter, {} ReLUs removed: {}; an optimistic bound{}", editor.sums().changed,
      editor.sums().removed, editor.sums_text(), tensors.note()));
}

constexpr std::array<std::string_view, 3> assumptions = {
    "Statistics are taken in the epilogue of the convolution before, normalization and ReLU are "
    "done while the convolution after reads its input, and both cost nothing there.",
    "What remains of the batch norm moves half of the bytes, after its ramp-up.",
    "A ReLU next to a batch norm on the stream belongs to it."};
constexpr std::array<std::string_view, 3> ignores = {
    "allocations and copies of the restructured layers: measured gains were about half of what "
    "this recipe predicts (Daydream, section 6)",
    "residual additions between batch norm and ReLU: that ReLU stays unless relu=all",
    "whether the library has such convolutions"};
constexpr std::array params = {factor_param, relu_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "reconstructed_batch_norm",
    .summary = "Move batch norm's passes and ReLU into the convolutions around it.",
    .paper =
        "W. Jung et al., Restructuring Batch Normalization to Accelerate CNN Training, MLSys "
        "2019; H. Zhu, A. Phanishayee, G. Pekhimenko, Daydream, USENIX ATC 2020",
    .recipe =
        "ReLU kernels beside a batch norm, forward and backward, are removed with their "
        "launches and the host time before them; batch norm kernels take factor x their time "
        "beyond the ramp-up; everything else stays.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "factor: batch norm time in a run with the restructured layers.",
    .identity = {.setting = "factor=1,relu=none"},
    .params = params,
    .apply = apply};

}  // namespace foretrace::reconstructed_batch_norm_parts
