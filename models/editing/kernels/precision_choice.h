// What running in a lower precision does to one kernel: whether it changes, its new time, the cast
// it needs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "models/hardware/costs/kernel_cost.h"
#include "sim/graph/task_graph.h"

namespace foretrace::editing {

/// How a model is run in lower precision. With fp8 and tf32 both false everything goes to `half`.
struct PrecisionChoice {
  Precision half = Precision::fp16;
  bool tf32 = false;  ///< only products, on TF32 units: nothing else changes
  bool fp8 = false;   ///< linear products in fp8, the rest in `half`
  bool autocast = true;
  bool daydream = false;
  bool update = false;
  bool casts = true;         ///< weights are cast in every forward pass
  bool activations = false;  ///< and activations and gradients, between 16-bit and fp32 operators
  bool loss_scaling = false;
  bool needs_scaling = false;  ///< an error, not a note, if loss scaling cannot be priced
  double followers = 1;
  double fp8_copies = 2;  ///< 8-bit copies that a cast of a training run writes
  double parameters = 0;  ///< for loss scaling; 0: from the recording
  std::int64_t cast_host_ns = 0;
  std::int64_t unscale_host_ns = 0;
  std::int64_t readback_host_ns = 0;
};

/// Why a kernel changes or not.
enum class PrecisionFate : std::uint8_t {
  changed,
  already_low,
  not_float,
  keeps_fp32,
  explicit_fp32,  ///< by its inputs, where the recording is in 16 bit already
  no_product,
  update,
  fp64,
  other
};
inline constexpr std::size_t precision_fate_count = 9;
/// In words, as shares of the device time; `already_low` names the type that is already there.
[[nodiscard]] std::string_view fate_name(PrecisionFate fate, const PrecisionChoice& choice);

/// The fate of a kernel that does not become an fp8 product.
[[nodiscard]] PrecisionFate precision_fate(const KernelTraits& traits, Phase phase,
                                           const PrecisionChoice& choice);

/// Matrix products, whether single or fused into attention.
[[nodiscard]] bool is_product(KernelClass kernel_class);

/// True if fp8 units take a linear product of this description (with its shape known): floating
/// point, not fp8 already, and but for its rows sizes that are multiples of 16 where recorded.
[[nodiscard]] bool fits_fp8(const KernelDescription& kernel);

/// New time of a kernel that changes to `to`; never longer than measured. The accelerator may be
/// null for Daydream's constants.
[[nodiscard]] Cost lowered_cost(std::int64_t measured_ns, const KernelDescription& kernel,
                                Precision to, const PrecisionChoice& choice,
                                const Accelerator* accelerator);

/// Numbers in the weight of a product with recorded shapes; 0 if it has none or if they are not
/// known. Of linear layers, and of convolutions.
[[nodiscard]] double linear_weight_numbers(const KernelDescription& kernel,
                                           std::string_view operator_name);
[[nodiscard]] double convolution_weight_numbers(std::string_view operator_name,
                                                const OperatorInputs& inputs);

/// Time to cast this many fp32 numbers to 16 bit.
[[nodiscard]] std::int64_t weight_cast_ns(double numbers, const Accelerator& accelerator);

}  // namespace foretrace::editing
