// CODE: members of an ensemble keep only the neurons that differ from the first member's.
//
//   before   member 2: [n x n products]                    the same work as member 1
//   after    member 2: [kept n x kept n products]          kept^2 of the arithmetic
//   The selected kernels belong to the reduced member; products shrink with both widths, the rest
//   with one.
//
// memory    parameters and states x kept squared (those that are no matrix between layers x kept),
//           activations x kept; of recorded tensors what the selected kernels write, and weights as
//           long as one step reads each once.
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/kernels/precision_choice.h"
#include "models/editing/parameters/model_state.h"
#include "models/editing/parameters/weight_tensors.h"
#include "models/editing/tensors/tensor_makers.h"
#include "models/editing/tensors/training_pass.h"
#include "models/whatifs/what_if.h"
#include "sim/edit/selection.h"

namespace foretrace::code_ensemble_parts {
namespace {

constexpr ParamInfo kept_param = {
    .name = "kept",
    .unit = "1",
    .doc = "Share of neurons that the member keeps; 1 changes nothing.",
    .minimum = 0.001,
    .maximum = 1};
constexpr ParamInfo select_param = {.name = "select",
                                    .type = ParamType::selection,
                                    .default_text = "kind=kernel",
                                    .doc = "The member's tasks."};

// Of the weight that a forward product of known shape reads; 0 for other kernels.
double weight_bytes(const editing::KernelEditor& editor, TaskId kernel) {
  const Phase phase = editor.graph().phase(kernel);
  const KernelClass kernel_class = editor.class_of(kernel);
  if (phase == Phase::backward || phase == Phase::update) return 0;
  const std::string_view op = editor.operator_of(kernel);
  if (kernel_class == KernelClass::convolution) {
    return editor.number_bytes(kernel) *
           editing::convolution_weight_numbers(op, editor.inputs_of(kernel));
  }
  return editor.number_bytes(kernel) * editing::linear_weight_numbers(editor.about(kernel), op);
}

void shrink_results(const editing::KernelEditor& editor, const std::set<TaskId>& members,
                    double kept, TensorEditor& tensors) {
  const std::vector<Tensor>& all = editor.graph().context().tensors;
  const std::vector<TaskId> makers = editing::find_makers(editor);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (editing::is_result(all[i].category) && members.contains(makers[i])) {
      tensors.resize(i, static_cast<double>(all[i].bytes) * kept);
    }
  }
}

/// Gradients and states follow: matrices between layers lose both widths, the rest one. Of what no
/// kernel is known to read, the member has the share of the forward kernels that it has.
void shrink_parameters(editing::KernelEditor& editor, const std::set<TaskId>& members,
                       double kept) {
  editing::ParameterEditor parameters(editor);
  std::vector<Parameter>& rows = parameters.table().rows;
  std::vector<double> share(rows.size(), -1);  // below 0: nothing known reads it
  std::size_t forward = 0;
  std::size_t own = 0;
  for (const TaskId kernel : editor.kernels()) {
    if (editor.graph().phase(kernel) != Phase::forward) continue;
    const bool is_member = members.contains(kernel);
    ++forward;
    own += is_member ? 1 : 0;
    const double matrix = weight_bytes(editor, kernel) / editor.number_bytes(kernel);
    for (const ParameterId id : parameters.read_by(kernel)) {
      const bool between = matrix > 0 && rows[index(id)].elements >= matrix / 2;
      share[index(id)] = is_member ? (between ? kept * kept : kept) : 1;
    }
  }
  const double rest = forward > 0 ? static_cast<double>(own) / static_cast<double>(forward) : 1;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].elements *= share[i] >= 0 ? share[i] : 1 - rest * (1 - kept * kept);
  }
  parameters.finish();
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  FORETRACE_TRY(
      auto selected,
      select(scenario.graph, params.text(select_param)).with_context("parameter 'select'"));
  if (editing::only_infers(scenario.graph)) {
    return Error{
        ErrorCode::no_match,
        "the run has a forward pass, no backward pass and no update: ensembles are trained"};
  }
  editing::KernelEditor editor(scenario);
  const double kept = params.number(kept_param);
  std::set<TaskId> members;
  editing::WeightTensors weights(editor, editing::Fewer::numbers);
  for (const TaskId kernel : selected) {
    if (scenario.graph.kind(kernel) != TaskKind::kernel) continue;
    const KernelTraits& traits = editor.about(kernel).traits;
    const Phase phase = scenario.graph.phase(kernel);
    const bool parameters = phase == Phase::update || traits.kernel_class == KernelClass::optimizer;
    const bool product =
        traits.kernel_class == KernelClass::gemm || traits.kernel_class == KernelClass::convolution;
    editor.set(kernel, editing::moved_share(scenario.graph.duration_ns(kernel), traits.kernel_class,
                                            product || parameters ? kept * kept : kept));
    members.insert(kernel);
    const double bytes = weight_bytes(editor, kernel);
    if (bytes > 0) weights.add(kernel, bytes, bytes * kept * kept);
  }
  if (editor.untouched()) return Error{ErrorCode::no_match, "no kernel is selected"};
  TensorEditor tensors(editor.edit());
  const std::string note = weights.edit(tensors);
  shrink_parameters(editor, members, kept);
  shrink_results(editor, members, kept, tensors);
  return editor.finish(fmt::format("a member with {:.0f} % of the neurons: {}{}{}", 100 * kept,
                                   editor.sums_text(), tensors.note(), note));
}

constexpr std::array<std::string_view, 3> assumptions = {
    "A member that keeps a share of the neurons of every layer has kept x kept of "
    "the weights of a product between two such layers.",
    "Kernels stay as good for the smaller sizes as for the recorded ones.",
    "The selected tasks are one member's; members are trained one after the other."};
constexpr std::array<std::string_view, 3> ignores = {
    "finding the neurons that can go",
    "epochs that a member need not train: multiply by them yourself",
    "first and last layers, whose outer width stays"};
constexpr std::array params = {kept_param, select_param};

constexpr std::array trends = {Trend{&kept_param, Larger::is_slower}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "code_ensemble",
    .summary = "Train further ensemble members with a share of their neurons.",
    .paper =
        "E. Trainiti, T. Noraset, D. Demeter, D. Downey, S. Campanoni, CODE: Compiler- "
        "based Neuron-aware Ensemble Training, MLSys 2021",
    .recipe =
        "Selected products and convolutions of forward and backward take kept x kept of "
        "their time beyond the ramp-up, all other selected kernels of these phases and "
        "of the update kept of it.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "kept: share of neurons per member after the analysis.",
    .identity = {.setting = "kept=1"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .basis = Basis::formula};

}  // namespace foretrace::code_ensemble_parts
