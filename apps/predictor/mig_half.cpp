#include "apps/predictor/mig_half.h"

#include <array>
#include <cstdint>

namespace foretrace {

namespace {

// Multiprocessors of the profile, as `nvidia-smi mig -lgip` lists them, by those of the device:
// slices leave some unused (A100) and are not all alike (H100).
struct Profile {
  int major = 0;
  std::int32_t device = 0;
  std::int32_t half = 0;
};
constexpr std::array profiles = {Profile{8, 108, 42},   // A100, 3g
                                 Profile{8, 56, 28},    // A30, 2g
                                 Profile{9, 132, 60},   // H100 SXM and NVL, H200, GH200, 3g
                                 Profile{9, 114, 46}};  // H100 PCIe, 3g

}  // namespace

// NVIDIA Multi-Instance GPU User Guide, "Supported GPUs" and "Supported MIG Profiles": the
// data-center GPUs of compute capability 8.0 (A100, A30), 9.0 (H100, H200, GH200) and 10 (B200,
// GB200). Profile 3g has 3 of 7 slices of the multiprocessors and 4 of 8 of the memory; A30 has
// 4 slices of both and its 2g has two of them. RTX boards of 12.0 differ among each other.
std::optional<MigHalf> mig_half(const Accelerator& accelerator) {
  if (!accelerator.has_cuda_capability()) return std::nullopt;
  const int major = accelerator.compute_major;
  const bool has_mig =
      (accelerator.compute_minor == 0 && (major == 8 || major == 9)) || major == 10;
  if (!has_mig) return std::nullopt;
  for (const Profile& profile : profiles) {
    if (profile.major != major || profile.device != accelerator.multiprocessors) continue;
    return MigHalf{static_cast<double>(profile.half) / profile.device, 0.5};
  }
  return MigHalf{3.0 / 7, 0.5, true};
}

}  // namespace foretrace
