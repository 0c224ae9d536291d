// Constants of the cost models, each with the operator table it comes from.
#include "models/hardware/costs/rates.h"

namespace foretrace {
namespace {

// Share of the peak where a file states no sustained rate, nor one of the same units. The shares that are known lie between
// 0.49 (MI300X bf16, T4 fp32) and 0.96 (V100 fp32).
constexpr double assumed_share = 0.75;

// Fused attention against a large product on the same units. FlashAttention reports 30 to 50 % and
// FlashAttention-2 50 to 73 % of the A100's peak, where large products reach 84 %: between the two.
constexpr double attention_share = 0.60;

// cuDNN and MIOpen against large products; no table of convolutions is at hand. It cancels in
// ratios between precisions and between accelerators and counts for new kernels only.
constexpr double convolution_share = 0.70;

/// Share of the peak of another precision of the same matrix units.
double share_beside(const Accelerator& accelerator) {
  for (const Precision known : {Precision::bf16, Precision::fp16}) {
    const double sustained = accelerator.sustained_flops[static_cast<std::size_t>(known)];
    if (sustained > 0) return sustained / accelerator.flops(known);
  }
  return assumed_share;
}

double stated_rate(const Accelerator& accelerator, Precision precision) {
  double rate = accelerator.sustained_flops[static_cast<std::size_t>(precision)];
  if (!(rate > 0)) {
    const bool is_matrix = uses_matrix_units(precision);
    rate = (is_matrix ? share_beside(accelerator) : assumed_share) * accelerator.flops(precision);
  }
  return rate * clock_factor(accelerator, precision);
}

// Constants of products come from tables of products.
bool is_product(KernelClass kernel_class) {
  return kernel_class == KernelClass::gemm || kernel_class == KernelClass::convolution ||
         kernel_class == KernelClass::attention;
}

}  // namespace

bool uses_matrix_units(Precision precision) {
  switch (precision) {
    case Precision::tf32:
    case Precision::fp16:
    case Precision::bf16:
    case Precision::fp8:
    case Precision::int8: return true;
    case Precision::unknown:
    case Precision::fp64:
    case Precision::fp32: return false;
  }
  return false;
}

double clock_factor(const Accelerator& accelerator, Precision precision) {
  return uses_matrix_units(precision) ? accelerator.sustained_clock.typical : 1;
}

double sustained_rate(const Accelerator& accelerator, Precision precision,
                      KernelClass kernel_class) {
  const double rate = stated_rate(accelerator, precision);
  if (kernel_class == KernelClass::convolution) return convolution_share * rate;
  if (kernel_class != KernelClass::attention) return rate;
  // Since compute capability 8.0 fp32 attention runs on the TF32 units, three products for one
  // (CUTLASS "fast f32"): OpMultiplyAddFastF32 in PyTorch's memory-efficient attention.
  const double tf32 = stated_rate(accelerator, Precision::tf32);
  if (precision == Precision::fp32 && tf32 > 0) return attention_share * tf32 / 3;
  return attention_share * rate;
}

double bandwidth_share(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::gemm:
    case KernelClass::convolution:
    case KernelClass::attention: return 0.763;      // fit to LLMCompass and Vidur products, A100
    case KernelClass::normalization: return 0.757;  // LLMCompass layer norm, A100, rows to 16 KB
    case KernelClass::softmax: return 0.56;         // LLMCompass softmax, A100, long rows
    case KernelClass::gather: return 0.17;          // Vidur embedding, A100
    case KernelClass::elementwise:
    case KernelClass::reduction:
    case KernelClass::copy:
    case KernelClass::optimizer:
    case KernelClass::collective:
    case KernelClass::other: return 0.80;  // LLMCompass GELU, Vidur add, A100
  }
  return 0.80;
}

double shortest_kernel_ns(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::gemm:
    case KernelClass::convolution:
    case KernelClass::attention: return 4200;  // intercept of the fit to Vidur products, A100
    case KernelClass::normalization:
    case KernelClass::softmax:
    case KernelClass::elementwise:
    case KernelClass::reduction:
    case KernelClass::gather:
    case KernelClass::copy:
    case KernelClass::optimizer:
    case KernelClass::collective:
    case KernelClass::other: return 1800;  // Vidur add of a few tokens, A100
  }
  return 1800;
}

double bandwidth_share(const Accelerator& accelerator, KernelClass kernel_class) {
  const bool measured = is_product(kernel_class) && accelerator.product_bandwidth_share > 0;
  return measured ? accelerator.product_bandwidth_share : bandwidth_share(kernel_class);
}

double memory_rate(const Accelerator& accelerator, KernelClass kernel_class) {
  return accelerator.memory_bandwidth * bandwidth_share(accelerator, kernel_class);
}

double shortest_kernel_ns(const Accelerator& accelerator, KernelClass kernel_class) {
  const std::int64_t measured =
      is_product(kernel_class) ? accelerator.shortest_product_ns : accelerator.shortest_kernel_ns;
  return measured > 0 ? static_cast<double>(measured) : shortest_kernel_ns(kernel_class);
}

Spread class_spread(KernelClass kernel_class) {
  switch (kernel_class) {
    // Two sources of one part number sustain rates 18 % apart (clock and power); fp32 products of
    // the NeuSight table scaled between A100, V100 and T4 have medians within 2 % of the measured.
    // Of elementwise kernels bandwidth shares are 0.79 to 0.88 on one part.
    case KernelClass::gemm:
    case KernelClass::elementwise:
    case KernelClass::copy:
    case KernelClass::optimizer: return {0.90, 1.10};
    // No table of convolutions; FlashAttention 1 to 2, see above.
    case KernelClass::convolution:
    case KernelClass::attention: return {0.75, 1.33};
    // NeuSight layer norm and softmax scaled between A100, V100 and T4: medians 0.88 to 1.14.
    case KernelClass::normalization:
    case KernelClass::softmax:
    case KernelClass::reduction: return {0.87, 1.15};
    case KernelClass::gather:
    case KernelClass::other: return {0.67, 1.5};  // depends on indices; not known
    case KernelClass::collective: return {1, 1};  // left as measured
  }
  return {1, 1};
}

Spread class_spread(KernelClass kernel_class, const Accelerator& accelerator, Precision precision) {
  const SustainedClock& clock = accelerator.sustained_clock;
  if (kernel_class != KernelClass::gemm || !uses_matrix_units(precision) ||
      !(clock.low < clock.high)) {
    return class_spread(kernel_class);
  }
  return {clock.typical / clock.high, clock.typical / clock.low};
}

}  // namespace foretrace
