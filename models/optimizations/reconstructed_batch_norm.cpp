// Reconstructed batch norm: statistics and ReLU move into the convolutions around it.
//
//   before   [convolution][batch norm: statistics | normalize][relu][convolution]
//   after    [convolution + statistics][1/2 batch norm]             [normalize + relu +
//   convolution] ReLU kernels beside a batch norm go with their launches, forward and backward; the
//   batch norm kernels take `factor` of their time; the convolutions keep theirs.
//
// paper     W. Jung et al., Restructuring Batch Normalization to Accelerate CNN Training, MLSys
// 2019;
//           predicted as here by H. Zhu et al., Daydream, USENIX ATC 2020.
// assumes   - the fused passes cost the convolutions nothing
// ignores   new allocations and copies that the real implementation needed: Daydream predicted
//           12.7 % where 7 % was measured, so that this is an optimistic bound
// calibrate factor: batch norm time of the restructured model.
// memory    the normalized map of each batch norm is not kept.
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "models/detail/kernel_names.h"
#include "models/optimization.h"

namespace foretrace {
namespace {

// Forward the ReLU follows the batch norm, backward its gradient comes before.
bool beside_batch_norm(const detail::KernelEditor& editor, TaskId relu) {
  const bool backward = editor.graph().phase(relu) == Phase::backward;
  const TaskId next = editor.view().next(relu);
  const TaskId previous = editor.view().previous(relu);
  const TaskId neighbour = backward ? next : previous;
  return neighbour != none<TaskId> && editor.graph().kind(neighbour) == TaskKind::kernel &&
         detail::is_batch_norm(editor, neighbour);
}

Result<Change> apply(const Scenario& scenario, const ParamValues& params) {
  detail::KernelEditor editor(scenario);
  const double factor = params.number("factor");
  const bool all = params.text("relu") == "all";
  const bool none_goes = params.text("relu") == "none";
  bool found = false;
  for (const TaskId kernel : editor.kernels()) {
    if (detail::is_batch_norm(editor, kernel)) {
      const Cost cost = detail::moved_share(scenario.graph.duration_ns(kernel),
                                            KernelClass::normalization, factor);
      editor.set(kernel, cost);
      found = true;
    }
  }
  if (!found) return Error{ErrorCode::no_match, "no batch normalization kernel"};
  for (const TaskId kernel : editor.kernels()) {
    if (none_goes || !detail::is_relu(editor, kernel)) continue;
    if (all || beside_batch_norm(editor, kernel)) editor.remove(kernel, SegmentOf::take);
  }
  return editor.finish(fmt::format("{} batch norms shorter, {} ReLUs go: {}; an optimistic bound",
                                   editor.sums().changed, editor.sums().removed,
                                   editor.sums_text()));
}

constexpr std::array<std::string_view, 3> assumptions = {
    "Statistics are taken in the epilogue of the convolution before, normalization and ReLU are "
    "done while the convolution after reads its input, and both cost nothing there.",
    "What remains of the batch norm moves half of the bytes, after its ramp-up.",
    "A ReLU next to a batch norm on the stream belongs to it."};
constexpr std::array<std::string_view, 3> ignores = {
    "allocations and copies of the restructured layers: measured gains were about half of what "
    "this "
    "recipe predicts (Daydream, section 6)",
    "residual additions between batch norm and ReLU: that ReLU stays unless relu=all",
    "whether the library has such convolutions"};
constexpr std::array params = {
    ParamInfo{.name = "factor",
              .unit = "x",
              .default_text = "0.5",
              .doc = "New time of batch norm kernels / old, after their ramp-up.",
              .minimum = 0,
              .maximum = 1,
              .optimistic = "0.5",
              .pessimistic = "0.8"},
    ParamInfo{.name = "relu",
              .type = ParamType::text,
              .default_text = "beside",
              .doc = "Which ReLU kernels go: those beside a batch norm, all, or none.",
              .choices = "beside|all|none"}};

}  // namespace

namespace optimizations {

extern const OptimizationInfo reconstructed_batch_norm;
constinit const OptimizationInfo reconstructed_batch_norm = {
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
    .params = params,
    .apply = apply};

}  // namespace optimizations
}  // namespace foretrace
