// What arrays of multipliers have in common: parameters, and loads of a product that runs block by
// block.
#pragma once

#include "models/hardware/execution/exec_model.h"

namespace foretrace::execution {

inline constexpr ParamInfo clock_param = {.name = "clock_mhz",
                                          .unit = "MHz",
                                          .doc = "Clock of the array.",
                                          .minimum = 1e-3,
                                          .maximum = 1e5};
inline constexpr ParamInfo interval_param = {.name = "ii",
                                             .type = ParamType::integer,
                                             .unit = "1",
                                             .default_text = "1",
                                             .doc = "Cycles between two starts of the loop body.",
                                             .minimum = 1,
                                             .maximum = 1e6};
inline constexpr ParamInfo depth_param = {
    .name = "depth",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "0",
    .doc = "Cycles until the first result leaves the pipeline.",
    .minimum = 0,
    .maximum = 1e9};
inline constexpr ParamInfo dispatch_param = {.name = "dispatch",
                                             .type = ParamType::time,
                                             .unit = "us",
                                             .default_text = "0 ns",
                                             .doc = "Starting one operator.",
                                             .minimum = 0,
                                             .maximum = 1e12};

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

/// What is loaded through a buffer of this size at this rate, and the start of its kernels.
[[nodiscard]] ExecTime loads(const ParamValues& params, const OperatorWork& work,
                             double buffer_bytes, double bytes_per_ns);

/// Time of so many starts of a pipelined loop body: ii x starts + depth cycles.
[[nodiscard]] double pipelined_ns(const ParamValues& params, double starts);

}  // namespace foretrace::execution
