// Autocast semantics by kernel class, and the ratio of times in both precisions.
#include "models/editing/kernels/precision_choice.h"

#include <algorithm>
#include <cmath>

#include "sim/core/whole.h"

namespace foretrace::editing {
namespace {

// Daydream's constants for compute-bound and other kernels (RTX 2080 Ti).
constexpr double daydream_compute = 1.0 / 3;
constexpr double daydream_memory = 1.0 / 2;

// Sizes that the units dislike: R01 of Daydream's follow-ups, half the rate.
constexpr double odd_size_rate = 0.5;

bool is_multiple(double size, double of) { return std::fmod(size, of) == 0.0; }

// Units read 16 bytes at a time.
bool has_odd_size(const KernelDescription& kernel, Precision to) {
  if (!kernel.amount.gemm || kernel.shape_from_grid || to == Precision::fp8) return false;
  const GemmShape& shape = *kernel.amount.gemm;
  const double unit = to == Precision::tf32 ? 4 : 8;
  return !is_multiple(shape.m, unit) || !is_multiple(shape.n, unit) || !is_multiple(shape.k, unit);
}

Cost daydream_cost(std::int64_t measured_ns, const KernelDescription& kernel) {
  const double factor = kernel.traits.compute_bound ? daydream_compute : daydream_memory;
  return {to_whole(static_cast<double>(measured_ns) * factor), Provenance::assumed, 0.85F, 1.15F};
}

}  // namespace

std::string_view fate_name(PrecisionFate fate, const PrecisionChoice& choice) {
  switch (fate) {
    case PrecisionFate::changed: return "changed";
    case PrecisionFate::already_low:
      return choice.tf32 ? "already TF32 or 16 bit" : "already 16 bit";
    case PrecisionFate::not_float: return "not floating point";
    case PrecisionFate::keeps_fp32: return "kept in fp32 by autocast";
    case PrecisionFate::explicit_fp32: return "cast to fp32 by the program";
    case PrecisionFate::no_product: return "no products";
    case PrecisionFate::update: return "optimizer updates";
    case PrecisionFate::fp64: return "fp64";
    case PrecisionFate::other: return "unknown kernels";
  }
  return "unknown kernels";
}

PrecisionFate precision_fate(const KernelTraits& traits, Phase phase,
                             const PrecisionChoice& choice) {
  if (phase == Phase::update && !choice.update) return PrecisionFate::update;
  const bool has_tf32 = traits.precision == Precision::tf32;
  if (is_half(traits.precision) || traits.precision == Precision::fp8 ||
      (choice.tf32 && has_tf32)) {
    return PrecisionFate::already_low;
  }
  if (traits.precision == Precision::fp64) return PrecisionFate::fp64;
  if (traits.precision != Precision::fp32 && !has_tf32) {
    return traits.kernel_class == KernelClass::other ? PrecisionFate::other
                                                     : PrecisionFate::not_float;
  }
  switch (traits.kernel_class) {
    case KernelClass::collective:
    case KernelClass::other: return PrecisionFate::other;
    case KernelClass::optimizer:
      return choice.update && !choice.tf32 ? PrecisionFate::changed : PrecisionFate::update;
    // Embedding tables are parameters: under autocast they and their rows stay fp32.
    case KernelClass::gather:
      if (choice.tf32) return PrecisionFate::no_product;
      return choice.autocast ? PrecisionFate::keeps_fp32 : PrecisionFate::changed;
    case KernelClass::gemm:
    case KernelClass::convolution:
    case KernelClass::attention:
    case KernelClass::normalization:
    case KernelClass::softmax:
    case KernelClass::elementwise:
    case KernelClass::reduction:
    case KernelClass::copy: break;
  }
  if (choice.tf32) {
    return is_product(traits.kernel_class) ? PrecisionFate::changed : PrecisionFate::no_product;
  }
  return choice.autocast && traits.keeps_fp32 ? PrecisionFate::keeps_fp32 : PrecisionFate::changed;
}

bool is_product(KernelClass kernel_class) {
  return kernel_class == KernelClass::gemm || kernel_class == KernelClass::convolution ||
         kernel_class == KernelClass::attention;
}

bool fits_fp8(const KernelDescription& kernel) {
  const Precision precision = kernel.traits.precision;
  if (precision != Precision::fp32 && precision != Precision::tf32 && !is_half(precision)) {
    return false;
  }
  // cuBLASLt and torch._scaled_mm: rows of both operands in memory in whole 16 bytes.
  constexpr double unit = 16;
  return kernel.shape_from_grid ||
         (is_multiple(kernel.amount.gemm->k, unit) && is_multiple(kernel.amount.gemm->n, unit));
}

Cost lowered_cost(std::int64_t measured_ns, const KernelDescription& kernel, Precision to_precision,
                  const PrecisionChoice& choice, const Accelerator* accelerator) {
  if (choice.daydream) return daydream_cost(measured_ns, kernel);
  const Setting from{accelerator, kernel.traits.precision, 1};
  const Setting to{accelerator, to_precision,
                   has_odd_size(kernel, to_precision) ? odd_size_rate : 1};
  Cost cost = scaled_cost(measured_ns, kernel, from, to);
  if (choice.autocast && !is_product(kernel.traits.kernel_class)) {
    // Only a part of what follows the types of its inputs has 16-bit inputs.
    const auto measured = static_cast<double>(measured_ns);
    cost.duration_ns =
        to_whole(measured - choice.followers * (measured - static_cast<double>(cost.duration_ns)));
  }
  cost.duration_ns = std::min(cost.duration_ns, measured_ns);  // the old kernel stays available
  return cost;
}

double linear_weight_numbers(const KernelDescription& kernel, std::string_view operator_name) {
  const bool has_weight = operator_name == "aten::mm" || operator_name == "aten::addmm" ||
                          operator_name == "aten::linear";
  if (!has_weight || !kernel.amount.gemm || kernel.shape_from_grid) return 0;
  return kernel.amount.gemm->k * kernel.amount.gemm->n;
}

double convolution_weight_numbers(std::string_view operator_name, const OperatorInputs& inputs) {
  const bool forward = operator_name.find("conv") != std::string_view::npos &&
                       operator_name.find("backward") == std::string_view::npos;
  const Dims* weight = forward ? inputs.shape(1) : nullptr;
  if (weight == nullptr || weight->size() < 3) return 0;
  double numbers = 1;
  for (const std::int64_t size : *weight) numbers *= static_cast<double>(size);
  return std::clamp(numbers, 0.0, 1e13);
}

// A cast reads fp32 and writes 16 bit.
std::int64_t weight_cast_ns(double numbers, const Accelerator& accelerator) {
  return to_whole(shortest_kernel_ns(KernelClass::elementwise) +
                  (4 + 2) * numbers / memory_rate(accelerator, KernelClass::elementwise) * 1e9);
}

}  // namespace foretrace::editing
