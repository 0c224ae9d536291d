#include "models/hardware/execution/array_parts.h"

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

ExecTime loads(const ParamValues& params, const OperatorWork& work, double buffer_bytes,
               double bytes_per_ns) {
  const BlockedTraffic moved = blocked_traffic(work, buffer_bytes);
  ExecTime time;
  time.fixed = params.number(dispatch_param) * work.kernels;
  time.weights = moved.weights / bytes_per_ns;
  time.traffic = moved.others / bytes_per_ns;
  return time;
}

double pipelined_ns(const ParamValues& params, double starts) {
  const double cycles = params.number(interval_param) * starts + params.number(depth_param);
  return cycles / params.number(clock_param) * 1e3;
}

}  // namespace foretrace::execution
