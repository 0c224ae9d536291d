// No operator table of fused attention is at hand: shares are those that the authors print.
#include "models/jobs/times/attention_rates.h"

#include <array>

namespace foretrace {
namespace {

// FlashAttention 1 on A100: 30 to 50 % forward, 25 to 35 % backward (Dao, FlashAttention-2, 2023).
constexpr AttentionRate flash1_ampere = {{0.40, 0.30, 0.50}, {0.30, 0.25, 0.35}};
// The same kernels on Hopper run on its older instructions: they gain by multiprocessors and clock
// (1.6), not by peak (3.2).
constexpr AttentionRate flash1_hopper = {{0.20, 0.15, 0.27}, {0.15, 0.12, 0.20}};
// FlashAttention 2: 50 to 73 % of A100; 35 % of H100 (Shah et al., FlashAttention-3, 2024).
constexpr AttentionRate flash2_ampere = {{0.62, 0.50, 0.73}, {0.55, 0.45, 0.63}};
constexpr AttentionRate flash2_hopper = {{0.35, 0.30, 0.42}, {0.28, 0.24, 0.36}};
// FlashAttention 3 and cuDNN 9, causal, head size 128, sequences of 2 Ki to 16 Ki on H100: 0.45 to
// 0.66 forward, 0.34 to 0.52 backward (the same, figures 5 and 6).
constexpr AttentionRate flash3_hopper = {{0.55, 0.45, 0.66}, {0.43, 0.34, 0.52}};
// cuDNN on B200: about 70 % of the peak forward (Zadouri et al., FlashAttention-4, 2026).
constexpr AttentionRate flash3_blackwell = {{0.58, 0.45, 0.71}, {0.45, 0.36, 0.60}};

}  // namespace

AttentionRate attention_rate(AttentionKernel kernel, Generation generation) {
  const bool hopper = generation == Generation::hopper;
  const bool blackwell = generation == Generation::blackwell;
  switch (kernel) {
    case AttentionKernel::unfused:
    case AttentionKernel::flash1: return hopper || blackwell ? flash1_hopper : flash1_ampere;
    case AttentionKernel::flash2: return hopper || blackwell ? flash2_hopper : flash2_ampere;
    case AttentionKernel::flash3:
      return hopper ? flash3_hopper : blackwell ? flash3_blackwell : flash2_ampere;
  }
  return flash2_ampere;
}

// Memory-efficient attention splits each 32-bit number into TF32 parts and multiplies three times
// (CUTLASS's OpMultiplyAddFastF32).
double attention_peak(const Accelerator& accelerator, Precision precision) {
  constexpr double products_of_parts = 3;
  if (precision == Precision::fp32 || precision == Precision::tf32) {
    const double parts = accelerator.flops(Precision::tf32) / products_of_parts;
    if (parts > 0) return parts;
  }
  return accelerator.flops(precision);
}

}  // namespace foretrace
