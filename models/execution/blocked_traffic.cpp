#include "models/execution/blocked_traffic.h"

#include <algorithm>
#include <cmath>

namespace foretrace::execution {

BlockedTraffic blocked_traffic(const OperatorWork& work, double buffer_bytes) {
  BlockedTraffic once{work.weight_bytes, work.input_bytes + work.output_bytes};
  if (work.kind == WorkKind::vector || !(buffer_bytes > 0)) return once;
  const double batch = std::max(1.0, work.batch);
  // One operand stays whole while the other two pass by.
  const double second = work.weight_bytes > 0 ? work.weight_bytes : work.input_bytes / 2;
  if (std::min(work.input_bytes, second) / batch <= buffer_bytes) return once;
  const double numbers = buffer_bytes / work.number_bytes;
  const double least = 2 * work.multiplications() /
                       std::sqrt(numbers * std::max(1.0, work.input_reuse)) * work.number_bytes;
  const double all = std::max(work.bytes(), least + work.output_bytes);
  // What is read again is shared by the operands as they are read once.
  const double factor = (all - work.output_bytes) / std::max(1.0, work.bytes() - work.output_bytes);
  return {once.weights * factor, work.input_bytes * factor + work.output_bytes};
}

}  // namespace foretrace::execution
