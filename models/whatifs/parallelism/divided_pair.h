// A pair of products, the first divided by its outputs and the second by its inputs, as the modelled
// job's tensor parallelism divides it (models/jobs/parallelism/tensor.cpp).
#pragma once

#include <cstdint>
#include <vector>

#include "models/jobs/workloads/operator.h"

namespace foretrace::editing {

struct TensorOptions {
  std::uint32_t ranks = 1;
  bool sequence = false;  ///< norms and residuals between pairs are divided by tokens
};

/// Without rows: logits, whose outputs stay divided.
struct WholePair {
  std::vector<GemmShape> columns;
  GemmShape rows;
  double read_bytes = 0;     ///< by the columns
  double written_bytes = 0;  ///< by the rows
};

/// Of one rank. Its exchanges stand in `enter` and `leave`.
struct DividedPair {
  std::vector<GemmShape> columns;
  GemmShape rows;
  Operator enter;
  Operator leave;
};

[[nodiscard]] DividedPair divided_pair(const WholePair& whole, const TensorOptions& options);
/// Where the rows of a divided table that were looked up are added up.
[[nodiscard]] Operator divided_table(double written_bytes, const TensorOptions& options);

}  // namespace foretrace::editing
