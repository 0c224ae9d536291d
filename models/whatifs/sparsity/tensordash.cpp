// TensorDash: multipliers skip the zeros of activations and gradients.
//
//   before   forward W*A, backward W*G and A*G: every lane multiplies, zeros too
//   after    the same products in 1 / min(depth, 1 / (1 - phi z)) of the time
//   z is the share of zeros in the operand that is skipped: activations forward, gradients
//   backward.
//
// memory    none; zeros can be compressed in memory.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_editor.h"
#include "models/whatifs/what_if.h"

namespace foretrace::tensordash_parts {
namespace {

constexpr ParamInfo activations_param = {.name = "activations",
                                         .unit = "1",
                                         .doc = "Share of zeros in activations; 0 changes nothing.",
                                         .minimum = 0,
                                         .maximum = 0.999};
constexpr ParamInfo gradients_param = {.name = "gradients",
                                       .unit = "1",
                                       .doc = "Share of zeros in gradients of activations.",
                                       .minimum = 0,
                                       .maximum = 0.999};
constexpr ParamInfo phi_param = {.name = "phi",
                                 .unit = "1",
                                 .default_text = "0.9",
                                 .doc = "Part of the zeros that the scheduler can skip.",
                                 .minimum = 0,
                                 .maximum = 1,
                                 .optimistic = "1",
                                 .pessimistic = "0.7"};
constexpr ParamInfo depth_param = {.name = "depth",
                                   .unit = "1",
                                   .default_text = "3",
                                   .doc = "Rows in the staging buffer: the largest speed-up.",
                                   .minimum = 1,
                                   .maximum = 64};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  editing::KernelEditor editor(scenario);
  const double phi = params.number(phi_param);
  const double least = 1 / params.number(depth_param);
  for (const TaskId kernel : editor.kernels()) {
    const KernelTraits& traits = editor.about(kernel).traits;
    if (!traits.compute_bound || scenario.graph.phase(kernel) == Phase::update) continue;
    const bool backward = scenario.graph.phase(kernel) == Phase::backward;
    const double zeros = params.number(backward ? gradients_param : activations_param);
    editor.set(kernel, editing::moved_share(scenario.graph.duration_ns(kernel), traits.kernel_class,
                                            std::max(least, 1 - phi * zeros)));
  }
  if (editor.untouched()) return Error{ErrorCode::no_match, "no product or convolution"};
  return editor.finish(fmt::format("{} on hardware that skips zeros", editor.sums_text()));
}

constexpr std::array<std::string_view, 3> assumptions = {
    "A multiplier lane that would meet a zero takes a later pair from its buffer of "
    "`depth` rows, so that work shrinks to the pairs without zeros, but to no less "
    "than 1 / depth.",
    "Rows of a tile have unequal numbers of zeros; phi of them can be skipped on "
    "average.",
    "Products are bound by arithmetic, not by memory."};
constexpr std::array<std::string_view, 3> ignores = {
    "memory traffic, which compression of zeros would lower", "energy",
    "kernels other than products and convolutions"};
constexpr std::array params = {activations_param, gradients_param, phi_param, depth_param};

constexpr std::array trends = {Trend{&activations_param, Larger::is_faster},
                               Trend{&gradients_param, Larger::is_faster},
                               Trend{&depth_param, Larger::is_faster}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "tensordash",
    .summary = "Hardware that skips zero operands in products and convolutions.",
    .paper =
        "M. Mahmoud et al., TensorDash: Exploiting Sparsity to Accelerate Deep Neural "
        "Network Training, MICRO 2020",
    .recipe =
        "Products and convolutions of forward take max(1 / depth, 1 - phi x "
        "activations) of their time beyond the ramp-up, those of backward and of "
        "unknown operands likewise with gradients.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "activations, gradients: shares of zeros of the model in training; phi: a cycle "
        "simulation of the scheduler.",
    .identity = {.setting = "activations=0,gradients=0"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .alters_device = true,
    .basis = Basis::formula};

}  // namespace foretrace::tensordash_parts
