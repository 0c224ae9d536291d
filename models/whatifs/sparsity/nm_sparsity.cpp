// N:M sparsity: of every M weights N are kept, and linear layers multiply only those.
//
//   before   [m x k] x [k x n]            reads k n weights, 2 m k n FLOPs
//   after    [m x k] x [k x n, N of M]    reads k n N/M weights and indices, 2 m k n N/M FLOPs
//   Products with a weight in forward or inference; a product that would get slower stays dense.
//
// memory    weights of these layers take N/M x (1 + log2(M) / 8 / bytes) of what they did,
//           recorded ones as long as one step reads each once.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_names.h"
#include "models/editing/parameters/weight_tensors.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"

namespace foretrace::nm_sparsity_parts {
namespace {

constexpr ParamInfo pattern_param = {.name = "pattern",
                                     .type = ParamType::text,
                                     .doc = "N:M or N/M, e.g. 2/4 or 8/32; N = M changes nothing."};
constexpr ParamInfo efficiency_param = {
    .name = "efficiency",
    .unit = "x",
    .default_text = "0.5",
    .doc =
        "Rate of the sparse product / that of the dense one, for the FLOPs that are "
        "left.",
    .minimum = 0.01,
    .maximum = 2,
    .optimistic = "1",
    .pessimistic = "0.3"};

struct Pattern {
  double kept = 0;
  double of = 0;
};
// "2:4", or "2/4", which needs no quotes on a command line.
std::optional<Pattern> parse_pattern(std::string_view text) {
  int kept = 0;
  int of = 0;
  const auto [colon, first] = std::from_chars(text.data(), text.data() + text.size(), kept);
  if (first != std::errc() || colon == text.data() + text.size() ||
      (*colon != ':' && *colon != '/')) {
    return std::nullopt;
  }
  const auto [end, second] = std::from_chars(colon + 1, text.data() + text.size(), of);
  if (second != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (kept < 1 || of < kept || of > 65536) return std::nullopt;
  return Pattern{static_cast<double>(kept), static_cast<double>(of)};
}

// The kept weights, each with its index in the group.
double stored_bytes(Precision precision, const GemmShape& shape, const Pattern& pattern) {
  const double index_bytes = std::log2(pattern.of) / 8;
  return shape.k * shape.n * pattern.kept / pattern.of *
         (bytes_per_number(precision) + index_bytes);
}

// Arithmetic on the kept weights, or their bytes with the indices beside the activations.
double sparse_ns(const Accelerator& on, Precision precision, const GemmShape& shape,
                 const Pattern& pattern, double efficiency) {
  const double density = pattern.kept / pattern.of;
  const double fixed = shortest_kernel_ns(on, KernelClass::gemm);
  GemmShape kept = shape;
  kept.k = std::max(1.0, shape.k * density);
  const double dense = gemm_ns(on, precision, kept);
  if (!(dense > 0)) return 0;
  const double bytes_each = bytes_per_number(precision);
  const double bytes = stored_bytes(precision, shape, pattern) +
                       (shape.m * shape.k + shape.m * shape.n) * bytes_each;
  const double memory = bytes / memory_rate(on, KernelClass::gemm) * 1e9;
  return fixed + std::max((dense - fixed) / efficiency, memory);
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  const auto pattern = parse_pattern(params.text(pattern_param));
  if (!pattern) {
    return Error{ErrorCode::bad_usage, fmt::format("parameter 'pattern': got {}, expected N:M with "
                                                   "N <= M, such as 2:4",
                                                   in_quotes(params.text(pattern_param)))};
  }
  editing::KernelEditor editor(scenario);
  if (scenario.accelerator == nullptr) {
    if (editor.kernels().empty()) return Error{ErrorCode::no_match, "no kernels"};
    return missing_cost("a sparse product");
  }
  double before_bytes = 0;
  editing::WeightTensors weights(editor, editing::Fewer::bytes);
  std::size_t found = 0;
  for (const TaskId kernel : editor.kernels()) {
    const Phase phase = scenario.graph.phase(kernel);
    if (phase == Phase::backward || phase == Phase::update) continue;
    if (!editing::is_linear(editor, kernel)) continue;
    const GemmShape& shape = *editor.about(kernel).amount.gemm;
    const Precision precision = editor.about(kernel).traits.precision;
    const double dense = gemm_ns(*scenario.accelerator, precision, shape);
    const double sparse = sparse_ns(*scenario.accelerator, precision, shape, *pattern,
                                    params.number(efficiency_param));
    if (!(dense > 0) || !(sparse > 0)) continue;
    ++found;
    if (sparse >= dense) continue;
    const double bytes = shape.k * shape.n * bytes_per_number(precision);
    before_bytes += bytes;
    weights.add(kernel, bytes, std::min(bytes, stored_bytes(precision, shape, *pattern)));
    const double ns = static_cast<double>(scenario.graph.duration_ns(kernel)) * sparse / dense;
    editor.set(kernel, {to_whole(ns), Provenance::scaled, 0.85F, 1.2F});
  }
  if (found == 0) {
    return Error{ErrorCode::no_match,
                 "no linear product of known shape in forward or inference, expected a trace with "
                 "record_shapes=True"};
  }
  TensorEditor tensors(editor.edit());
  const std::string kept = weights.edit(tensors);
  return editor.finish(
      fmt::format("{} of {} products sparse: {}; {:.0f} MB of weights read by "
                  "these calls become {:.0f} % of that{}{}",
                  editor.sums().changed, found, editor.sums_text(), before_bytes * 1e-6,
                  100 * pattern->kept / pattern->of, tensors.note(), kept));
}

constexpr std::array<std::string_view, 4> assumptions = {
    "Weights can be pruned to N of every M along the inner size without other "
    "changes to the model.",
    "The sparse product reaches `efficiency` of the rate of a dense one for the "
    "FLOPs that it does; 1 is a sparse tensor core with its hardware pattern 2:4.",
    "A kept weight takes its own bytes and log2(M) bits of index.",
    "Where the sparse product would be slower the dense one stays."};
constexpr std::array<std::string_view, 3> ignores = {
    "backward products: gradients of weights stay dense", "accuracy, and training to get there",
    "packing of weights, which is done once"};
constexpr std::array params = {pattern_param, efficiency_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "nm_sparsity",
    .summary = "Prune weights to N of M and multiply only what is left.",
    .paper =
        "B. Lin et al., Efficient GPU Kernels for N:M-Sparse Weights in Deep Learning "
        "(nmSPARSE), MLSys 2023; A. Mishra et al., Accelerating Sparse Deep Neural "
        "Networks, 2021",
    .recipe =
        "Every linear product of known shape in forward or inference takes its measured "
        "time x the model time with N/M of the inner size and of the weight bytes, plus "
        "log2(M) bits of index per kept weight, at `efficiency` of the dense rate / the "
        "model time of the dense product.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "efficiency: one sparse product of the model beside its dense twin.",
    .identity = {.setting = "pattern=4/4,efficiency=1"},
    .params = params,
    .apply = apply};

}  // namespace foretrace::nm_sparsity_parts
