// Whether two descriptions are of one device.
#pragma once

#include "models/hardware/catalogue/accelerator.h"

namespace foretrace {

/// One product with the same figures, and as much memory as a driver may report of it. What a
/// catalogue knows besides (fitted constants, memory of libraries) and where figures are from makes
/// no other device.
[[nodiscard]] bool is_same_device(const Accelerator& a, const Accelerator& b);

}  // namespace foretrace
