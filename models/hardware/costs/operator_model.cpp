// Looks for a fit, then falls back on constants that one device taught us.
#include "models/hardware/costs/operator_model.h"

#include <algorithm>

#include "models/hardware/costs/rates.h"

namespace foretrace {
namespace {

// Tables timed from the host say nothing about how long a kernel takes to begin and end.
constexpr double longest_fixed_ns = 10000;

constexpr double tile_overhead_k = 26;
// Products of many small matrices pay more per tile on matrix units: one row of LLMCompass's
// transformer layer, k = 128, is 38 % too fast with the overhead of single products and 16 % with
// this. Other units take longer for a tile, and no more for one of a batch: NeuSight's fp32 products
// of A100, V100 and P100 ask for 26 to 38 of both kinds.
constexpr double tile_overhead_k_batched = 128;

KernelClass class_of(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::gemm:
    case OperatorKind::batched_gemm: return KernelClass::gemm;
    case OperatorKind::softmax: return KernelClass::softmax;
    case OperatorKind::layer_norm:
    case OperatorKind::rms_norm: return KernelClass::normalization;
    case OperatorKind::embedding: return KernelClass::gather;
    case OperatorKind::gelu:
    case OperatorKind::add:
    case OperatorKind::gated_activation:
    case OperatorKind::rope: return KernelClass::elementwise;
  }
  return KernelClass::elementwise;
}

const OperatorFit* find_fit(const Accelerator& accelerator, OperatorKind kind,
                            Precision precision) {
  const auto found = std::find_if(
      accelerator.fits.begin(), accelerator.fits.end(),
      [&](const OperatorFit& fit) { return fit.kind == kind && fit.precision == precision; });
  return found == accelerator.fits.end() ? nullptr : &*found;
}

// A file may state the peak of fp32 that its matrix units have, beside that of the others.
bool has_matrix_units(const Accelerator& accelerator, Precision precision) {
  return uses_matrix_units(precision) ||
         (accelerator.vector_fp32_flops > 0 &&
          accelerator.flops(precision) > accelerator.vector_fp32_flops);
}

DeviceRates rates_of(const Accelerator& accelerator, Precision precision) {
  DeviceRates rates;
  rates.bytes_per_ns = accelerator.memory_bandwidth * 1e-9;
  rates.multiprocessors = std::max(accelerator.multiprocessors, 1);
  rates.number_bytes = bytes_per_number(precision);
  return rates;
}

}  // namespace

OperatorModel usual_model(const Accelerator& accelerator, OperatorKind kind, Precision precision) {
  OperatorModel model;
  model.rates = rates_of(accelerator, precision);
  model.rates.flops_per_ns = sustained_rate(accelerator, precision, KernelClass::gemm) * 1e-9;
  OperatorFit& fit = model.fit;
  fit.kind = kind;
  fit.precision = precision;
  fit.rate_share = 1;  // of the sustained rate
  fit.bandwidth_share = bandwidth_share(accelerator, class_of(kind));
  fit.fixed_ns = shortest_kernel_ns(accelerator, class_of(kind));
  if (is_product(kind)) {
    // configs/costs/a100_fp16.json, rounded: 372 products of LLMCompass and Vidur.
    fit.form = FitForm::tiles;
    fit.operand_traffic = 19.7;
    const bool is_more =
        kind == OperatorKind::batched_gemm && has_matrix_units(accelerator, precision);
    fit.tile_overhead_k = is_more ? tile_overhead_k_batched : tile_overhead_k;
    fit.split_ns = 1400;
  } else if (reduces_rows(kind)) {
    fit.form = FitForm::rows;
    fit.row_limit = kind == OperatorKind::softmax ? 49152 : 16384;
    fit.excess_passes = 2;
    fit.row_bytes_per_ns = 8;
  }
  return model;
}

OperatorModel operator_model(const Accelerator& accelerator, OperatorKind kind,
                             Precision precision) {
  OperatorModel usual = usual_model(accelerator, kind, precision);
  const OperatorFit* fit = find_fit(accelerator, kind, precision);
  if (fit == nullptr && precision == Precision::bf16) {
    fit = find_fit(accelerator, kind, Precision::fp16);
  }
  if (fit == nullptr) return usual;
  OperatorModel model{*fit, usual.rates, true};
  model.rates.flops_per_ns =
      accelerator.flops(precision) * clock_factor(accelerator, precision) * 1e-9;
  if (model.fit.fixed_ns > longest_fixed_ns) model.fit.fixed_ns = usual.fit.fixed_ns;
  return model;
}

}  // namespace foretrace
