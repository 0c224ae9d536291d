// Time of two kernels that run as one: how much of the shorter one does not fit beside the longer.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "models/hardware/kernels/kernel_class.h"

namespace foretrace::editing {

/// What a kernel mostly waits for.
enum class Bottleneck : std::uint8_t { arithmetic, bytes, shared_memory, latency };
inline constexpr std::size_t bottleneck_count = 4;

/// By class: products are bound by arithmetic, the rest by bytes, gathers by latency.
[[nodiscard]] Bottleneck bottleneck_of(const KernelTraits& traits);

/// Two kernels, alone and fused, in any unit of time.
struct FusedPair {
  Bottleneck first{};
  Bottleneck second{};
  double first_time = 0;
  double second_time = 0;
  double fused_time = 0;
};

/// fused = longer + conflict x shorter. 0: the shorter one is free, 1: as one after the other,
/// more: the fused kernel has too few registers or too little occupancy.
class CorunModel {
 public:
  /// The model with conflicts from the pairs of the HFuse artifact (GTX 1080 Ti).
  CorunModel();
  /// The mean conflict per kind of pair; where a kind is not among the pairs, that of all pairs
  /// with equal, or with different bottlenecks.
  explicit CorunModel(std::span<const FusedPair> pairs);

  [[nodiscard]] double conflict(Bottleneck a, Bottleneck b) const {
    return conflict_[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
  }
  [[nodiscard]] double fused_time(Bottleneck a, double a_time, Bottleneck b, double b_time) const;

 private:
  std::array<std::array<double, bottleneck_count>, bottleneck_count> conflict_{};
};

}  // namespace foretrace::editing
