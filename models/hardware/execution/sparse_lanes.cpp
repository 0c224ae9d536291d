// An option: multipliers skip zeros of one operand, within the depth of their staging buffer.
#include <algorithm>
#include <array>

#include "models/hardware/execution/exec_model.h"

namespace foretrace::sparse_lanes_parts {
namespace {

constexpr ParamInfo activations_param = {.name = "activations",
                                         .unit = "1",
                                         .default_text = "0",
                                         .doc = "Share of zeros in activations.",
                                         .minimum = 0,
                                         .maximum = 0.999};
constexpr ParamInfo gradients_param = {.name = "gradients",
                                       .unit = "1",
                                       .default_text = "0",
                                       .doc = "Share of zeros in gradients of activations.",
                                       .minimum = 0,
                                       .maximum = 0.999};
constexpr ParamInfo phi_param = {.name = "phi",
                                 .unit = "1",
                                 .default_text = "1",
                                 .doc = "Part of the zeros that the scheduler can skip.",
                                 .minimum = 0,
                                 .maximum = 1};
constexpr ParamInfo depth_param = {.name = "depth",
                                   .unit = "1",
                                   .default_text = "3",
                                   .doc = "Rows of the staging buffer: the largest speed-up.",
                                   .minimum = 1,
                                   .maximum = 64};

// One operand of each product is watched: activations forward, gradients for the gradient of the
// input, of both the one with more zeros for the gradient of the weights.
double zeros_of(const ParamValues& params, WorkPass pass) {
  const double activations = params.number(activations_param);
  const double gradients = params.number(gradients_param);
  switch (pass) {
    case WorkPass::forward: return activations;
    case WorkPass::input_gradient: return gradients;
    case WorkPass::weight_gradient: return std::max(activations, gradients);
  }
  return 0;
}

void change_time(const ParamValues& params, const ExecWorkload& /*workload*/,
                 const OperatorWork& work, ExecTime& time) {
  if (work.kind != WorkKind::product) return;
  const double left = 1 - params.number(phi_param) * zeros_of(params, work.pass);
  time.compute *= std::max(1 / params.number(depth_param), left);
}

constexpr std::array<std::string_view, 2> assumptions = {
    "A lane that would meet a zero takes a later pair of its staging buffer.",
    "Rows of a tile have unequal numbers of zeros; phi of them can be skipped on average."};
constexpr std::array<std::string_view, 2> ignores = {"zeros of the other operand",
                                                     "compression of zeros in memory"};
constexpr std::array params = {activations_param, gradients_param, phi_param, depth_param};

}  // namespace

extern constexpr ExecModelInfo info = {
    .name = "sparse_lanes",
    .summary = "Option: multipliers skip zeros of activations and gradients (TensorDash).",
    .paper =
        "M. Mahmoud et al., TensorDash: Exploiting Sparsity to Accelerate Deep Neural Network "
        "Training, MICRO 2020",
    .recipe = "The arithmetic of products takes max(1 / depth, 1 - phi x zeros) of its time.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "shares of zeros of the model in training; phi: a cycle simulation of the scheduler.",
    .params = params,
    .change_time = change_time};

}  // namespace foretrace::sparse_lanes_parts
