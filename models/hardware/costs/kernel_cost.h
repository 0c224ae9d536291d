// Cost providers: a measured duration carried to other conditions, and a roofline for new kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/costs/gemm_model.h"
#include "models/hardware/costs/operator_shapes.h"
#include "models/hardware/costs/rates.h"
#include "models/hardware/kernels/kernel_class.h"
#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// A duration with where it is from and its declared bounds as factors.
struct Cost {
  std::int64_t duration_ns = 0;
  Provenance provenance = Provenance::scaled;
  float low = 1.0F;
  float high = 1.0F;
  std::string_view basis = {};  ///< what was done, in a few words; lives as long as the program
};

/// What decides how long a kernel takes.
enum class KernelBound : std::uint8_t {
  launch,   ///< it has next to nothing to do: starting and ending it
  compute,  ///< arithmetic
  memory,   ///< bytes
  unknown   ///< arithmetic or bytes: its shape is not recorded
};
inline constexpr std::size_t kernel_bound_count = 4;

/// The cost of what stays as it was measured.
[[nodiscard]] inline Cost kept_cost(std::int64_t measured_ns) {
  return {measured_ns, Provenance::measured, 1, 1, "measured"};
}

/// What is known about a work of a graph.
struct KernelDescription {
  KernelTraits traits;
  WorkAmount amount;
  bool shape_from_grid = false;  ///< the product's shape was derived from tile, grid and time
};

/// Descriptions of every work, by WorkId. Shapes of products without recorded inputs are derived
/// from tile and grid where an accelerator is given.
[[nodiscard]] std::vector<KernelDescription> describe_works(const TaskGraph& graph,
                                                            const Accelerator* accelerator);

/// Conditions under which a kernel runs.
struct Setting {
  const Accelerator* accelerator = nullptr;
  Precision precision = Precision::unknown;
  double rate_factor = 1;  ///< share of the arithmetic rate, e.g. for sizes that units dislike
};

/// The same device, whoever holds its figures, and the same numbers.
[[nodiscard]] bool are_same(const Setting& a, const Setting& b);

/// What bounds a kernel that took this long under these conditions.
[[nodiscard]] KernelBound kernel_bound_of(std::int64_t measured_ns, const KernelDescription& kernel,
                                          const Setting& setting);

/// `scaled`: measured time x model time under new conditions / model time under old ones. Work that
/// does not shrink (ramp-up) is kept. Between two bounds where the mix of arithmetic and bytes is
/// not known: their geometric mean, with both as the range. `measured` under the same conditions.
[[nodiscard]] Cost scaled_cost(std::int64_t measured_ns, const KernelDescription& kernel,
                               const Setting& from, const Setting& to);

/// The time of a kernel that was never measured: `table` where constants were fitted to its
/// operator on this accelerator, else `roofline`. missing_cost, naming `what`, if neither FLOPs nor
/// numbers moved are known.
[[nodiscard]] Result<Cost> roofline_cost(const KernelDescription& kernel, const Setting& setting,
                                         std::string_view what);

/// The error for a task that needs a duration and that no provider knows one for: names it and
/// the ways to give it one.
[[nodiscard]] Error missing_cost(std::string_view what);

}  // namespace foretrace
