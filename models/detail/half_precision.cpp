// Autocast semantics by kernel class, and the ratio of times in both precisions.
#include "models/detail/half_precision.h"

#include <algorithm>
#include <cmath>

namespace foretrace::detail {
namespace {

// Daydream's constants for compute-bound and other kernels (RTX 2080 Ti).
constexpr double daydream_compute = 1.0 / 3;
constexpr double daydream_memory = 1.0 / 2;

// Sizes that the units dislike: R01 of Daydream's follow-ups, half the rate.
constexpr double odd_size_rate = 0.5;

bool has_odd_size(const KernelDescription& kernel) {
  if (!kernel.amount.gemm || kernel.shape_from_grid) return false;
  const auto odd = [](double size) { return std::fmod(size, 8.0) != 0.0; };
  return odd(kernel.amount.gemm->m) || odd(kernel.amount.gemm->n) || odd(kernel.amount.gemm->k);
}

Cost daydream_cost(std::int64_t measured_ns, const KernelDescription& kernel) {
  const double factor = kernel.traits.compute_bound ? daydream_compute : daydream_memory;
  return {std::llround(static_cast<double>(measured_ns) * factor), Provenance::assumed, 0.85F,
          1.15F};
}

}  // namespace

HalfFate half_fate(const KernelTraits& traits, Phase phase, const HalfChoice& choice) {
  if (phase == Phase::update && !choice.update) return HalfFate::update;
  if (is_half(traits.precision) || traits.precision == Precision::fp8)
    return HalfFate::already_half;
  if (traits.precision == Precision::fp64) return HalfFate::fp64;
  if (traits.precision != Precision::fp32 && traits.precision != Precision::tf32) {
    return traits.kernel_class == KernelClass::other ? HalfFate::other : HalfFate::not_float;
  }
  switch (traits.kernel_class) {
    case KernelClass::collective:
    case KernelClass::other: return HalfFate::other;
    case KernelClass::optimizer: return choice.update ? HalfFate::changed : HalfFate::update;
    // Embedding tables are parameters: under autocast they and their rows stay fp32.
    case KernelClass::gather: return choice.autocast ? HalfFate::keeps_fp32 : HalfFate::changed;
    case KernelClass::gemm:
    case KernelClass::convolution:
    case KernelClass::attention:
    case KernelClass::normalization:
    case KernelClass::softmax:
    case KernelClass::elementwise:
    case KernelClass::reduction:
    case KernelClass::copy: break;
  }
  return choice.autocast && traits.keeps_fp32 ? HalfFate::keeps_fp32 : HalfFate::changed;
}

bool is_product(KernelClass kernel_class) {
  return kernel_class == KernelClass::gemm || kernel_class == KernelClass::convolution ||
         kernel_class == KernelClass::attention;
}

Cost half_cost(std::int64_t measured_ns, const KernelDescription& kernel, const HalfChoice& choice,
               const Accelerator* accelerator) {
  if (choice.daydream) return daydream_cost(measured_ns, kernel);
  const Setting from{accelerator, kernel.traits.precision, 1};
  const Setting to{accelerator, choice.half, has_odd_size(kernel) ? odd_size_rate : 1};
  Cost cost = scaled_cost(measured_ns, kernel, from, to);
  if (choice.autocast && !is_product(kernel.traits.kernel_class)) {
    // Only a part of what follows the types of its inputs has 16-bit inputs.
    const auto measured = static_cast<double>(measured_ns);
    cost.duration_ns = std::llround(
        measured - choice.followers * (measured - static_cast<double>(cost.duration_ns)));
  }
  cost.duration_ns = std::min(cost.duration_ns, measured_ns);  // the old kernel stays available
  return cost;
}

// A cast reads fp32 and writes 16 bit for every weight of a product with recorded shapes.
std::int64_t weight_cast_ns(const KernelDescription& kernel, std::string_view operator_name,
                            const Accelerator& accelerator) {
  const bool has_weight = operator_name == "aten::mm" || operator_name == "aten::addmm" ||
                          operator_name == "aten::linear";
  if (!has_weight || !kernel.amount.gemm || kernel.shape_from_grid) return 0;
  const double bytes = (4 + 2) * kernel.amount.gemm->k * kernel.amount.gemm->n;
  const double share = bandwidth_share(KernelClass::elementwise);
  return std::llround(shortest_kernel_ns(KernelClass::elementwise) +
                      bytes / (accelerator.memory_bandwidth * share) * 1e9);
}

}  // namespace foretrace::detail
