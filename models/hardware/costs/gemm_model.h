// Time of a matrix product: tiles in waves over the multiprocessors, split along k, or memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "models/hardware/costs/operator_shapes.h"
#include "models/hardware/costs/rates.h"

namespace foretrace {

/// Time in ns of a product in this precision; 0 if the accelerator has no rate for it.
[[nodiscard]] double gemm_ns(const Accelerator& accelerator, Precision precision,
                             const GemmShape& shape);

/// The shape of a product whose kernel names its tile ("ampere_sgemm_128x64_tn") and whose grid is
/// known: m and n from tiles, k from the measured time. Nothing for kernels that split k, loop over
/// tiles, or were too short to tell.
[[nodiscard]] std::optional<GemmShape> gemm_from_grid(const Accelerator& accelerator,
                                                      Precision precision,
                                                      std::string_view kernel_name,
                                                      const std::array<std::int32_t, 3>& grid,
                                                      std::int64_t measured_ns);

}  // namespace foretrace
