// Bytes between a memory and a buffer on chip while a product runs block by block.
#pragma once

#include "models/execution/exec_model.h"

namespace foretrace::execution {

/// Bytes of both operands and of the result of one product.
struct BlockedTraffic {
  double weights = 0;
  double others = 0;
};

/// Each number once where the smaller operand fits into the buffer, else what the best blocking
/// moves: 2 m n k / sqrt(buffer) numbers (Hong and Kung, STOC 1981; Smith et al., 2019), by the
/// square root of the reuse fewer for a convolution (Demmel and Dinh, 2018). buffer 0: each number
/// once.
[[nodiscard]] BlockedTraffic blocked_traffic(const OperatorWork& work, double buffer_bytes);

}  // namespace foretrace::execution
