// What running in 16 bit does to one kernel: whether it changes, its new time, the cast it needs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "models/costs/kernel_cost.h"
#include "sim/graph/task_graph.h"

namespace foretrace::detail {

/// How a model is run in 16 bit.
struct HalfChoice {
  Precision half = Precision::fp16;
  bool autocast = true;
  bool daydream = false;
  bool update = false;
  bool casts = true;
  double followers = 1;
  std::int64_t cast_host_ns = 0;
};

/// Why a kernel changes or not.
enum class HalfFate : std::uint8_t {
  changed,
  already_half,
  not_float,
  keeps_fp32,
  update,
  fp64,
  other
};
inline constexpr std::size_t half_fate_count = 7;
inline constexpr std::array<std::string_view, half_fate_count> half_fate_names = {
    "changed",           "already 16 bit", "not floating point", "kept in fp32 by autocast",
    "optimizer updates", "fp64",           "unknown kernels"};

[[nodiscard]] HalfFate half_fate(const KernelTraits& traits, Phase phase, const HalfChoice& choice);

/// Matrix products, whether single or fused into attention.
[[nodiscard]] bool is_product(KernelClass kernel_class);

/// New time of a kernel that changes; never longer than measured. The accelerator may be null for
/// Daydream's constants.
[[nodiscard]] Cost half_cost(std::int64_t measured_ns, const KernelDescription& kernel,
                             const HalfChoice& choice, const Accelerator* accelerator);

/// Time to cast the weight of a product with recorded shapes to 16 bit; 0 if it has none.
[[nodiscard]] std::int64_t weight_cast_ns(const KernelDescription& kernel,
                                          std::string_view operator_name,
                                          const Accelerator& accelerator);

}  // namespace foretrace::detail
