// Sweeps of matrix products as benchmark programs print them.
#pragma once

#include <string>
#include <string_view>

#include "models/hardware/costs/calibration/operator_table.h"
#include "sim/core/result.h"

namespace foretrace {

/// Rows below a line of column names, cells apart by commas or blanks: m, n, k, and a time (us, ms)
/// or a rate (Gflops, tflops), also a batch count and a data type. rocblas-bench and
/// hipblaslt-bench print one such line for each product; what else stands in the text is passed
/// over. The data type may be an argument of the program instead ("-r f16_r"). Error: no row, no
/// data type, a figure that is none.
[[nodiscard]] Result<OperatorTable> parse_gemm_sweep(std::string_view text,
                                                     const std::string& where);

}  // namespace foretrace
