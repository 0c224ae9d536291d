#include "apps/driver/predictor/mig_half.h"

namespace foretrace {

// NVIDIA Multi-Instance GPU User Guide, "Supported GPUs" and "Supported MIG Profiles": the
// data-center GPUs of compute capability 8.0 (A100, A30), 9.0 (H100, H200, GH200) and 10 (B200,
// GB200). Profile 3g has 3 of 7 slices of the multiprocessors and 4 of 8 of the memory; A30 has
// 4 slices of both and its 2g has two of them. RTX boards of 12.0 differ among each other.
std::optional<MigHalf> mig_half(const Accelerator& accelerator) {
  // AMD's drivers report versions of their own in the same place.
  if (!accelerator.product.starts_with("NVIDIA ")) return std::nullopt;
  const int major = accelerator.compute_major;
  const bool has_mig =
      (accelerator.compute_minor == 0 && (major == 8 || major == 9)) || major == 10;
  if (!has_mig) return std::nullopt;
  if (accelerator.product == "NVIDIA A30") return MigHalf{2.0 / 4, 2.0 / 4};
  return MigHalf{3.0 / 7, 4.0 / 8};
}

}  // namespace foretrace
