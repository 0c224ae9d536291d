// CODE: members of an ensemble keep only the neurons that differ from the first member's.
//
//   before   member 2: [n x n products]                    the same work as member 1
//   after    member 2: [kept n x kept n products]          kept^2 of the arithmetic
//   The selected kernels belong to the reduced member; products shrink with both widths, the rest
//   with one.
//
// paper     E. Trainiti, T. Noraset, D. Demeter, D. Downey, S. Campanoni, CODE: Compiler-based
//           Neuron-aware Ensemble Training, MLSys 2021.
// assumes   - products have kept x kept of the work
//           - all other kernels have kept of it
// ignores   the analysis, skipped epochs, the outer width of first and last layers
// calibrate kept: share of neurons per member after the analysis.
// memory    parameters and states x kept squared, activations x kept.
#include <array>

#include <fmt/format.h>

#include "models/detail/kernel_editor.h"
#include "models/optimization.h"
#include "sim/transform/selection.h"

namespace foretrace {
namespace {

Result<Change> apply(const Scenario& scenario, const ParamValues& params) {
  auto selected = select(scenario.graph, params.text("select"));
  if (!selected) return std::move(selected).error().with_context("parameter 'select'");
  detail::KernelEditor editor(scenario);
  const double kept = params.number("kept");
  for (const TaskId kernel : *selected) {
    if (scenario.graph.kind(kernel) != TaskKind::kernel) continue;
    const KernelTraits& traits = editor.about(kernel).traits;
    const Phase phase = scenario.graph.phase(kernel);
    const bool weights = phase == Phase::update || traits.kernel_class == KernelClass::optimizer;
    const bool product =
        traits.kernel_class == KernelClass::gemm || traits.kernel_class == KernelClass::convolution;
    editor.set(kernel, detail::moved_share(scenario.graph.duration_ns(kernel), traits.kernel_class,
                                           product || weights ? kept * kept : kept));
  }
  if (editor.untouched()) return Error{ErrorCode::no_match, "no kernel is selected"};
  return editor.finish(
      fmt::format("a member with {:.0f} % of the neurons: {}", 100 * kept, editor.sums_text()));
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
constexpr std::array params = {
    ParamInfo{.name = "kept",
              .unit = "1",
              .doc = "Share of neurons that the member keeps; 1 changes nothing.",
              .minimum = 0.001,
              .maximum = 1},
    ParamInfo{.name = "select",
              .type = ParamType::selection,
              .default_text = "kind=kernel",
              .doc = "The member's tasks."}};

}  // namespace

namespace optimizations {

extern const OptimizationInfo code_ensemble;
constinit const OptimizationInfo code_ensemble = {
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
    .params = params,
    .apply = apply};

}  // namespace optimizations
}  // namespace foretrace
