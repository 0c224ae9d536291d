// Products by the form that is fitted for the accelerator, and shapes back from tiles.
#include "models/hardware/costs/gemm_model.h"

#include <cmath>

#include "models/hardware/costs/operator_model.h"
#include "models/hardware/kernels/kernel_rules.h"

namespace foretrace {
double gemm_ns(const Accelerator& accelerator, Precision precision, const GemmShape& shape) {
  const OperatorKind kind = shape.batch > 1 ? OperatorKind::batched_gemm : OperatorKind::gemm;
  return model_ns(operator_model(accelerator, kind, precision), shape);
}

std::optional<GemmShape> gemm_from_grid(const Accelerator& accelerator, Precision precision,
                                        std::string_view kernel_name,
                                        const std::array<std::int32_t, 3>& grid,
                                        std::int64_t measured_ns) {
  const auto tile = kernel_rules().facts(kernel_name).tile;
  if (!tile || !tile->one_block_per_tile || grid[0] <= 0 || grid[1] <= 0 || grid[2] <= 0) {
    return std::nullopt;
  }
  const double batch = grid[2];
  const OperatorKind kind = batch > 1 ? OperatorKind::batched_gemm : OperatorKind::gemm;
  const OperatorModel model = usual_model(accelerator, kind, precision);
  const double body = static_cast<double>(measured_ns) - model.fit.fixed_ns;
  if (!(model.rates.flops_per_ns > 0) || !(body > 0)) return std::nullopt;

  const double count = static_cast<double>(grid[0]) * grid[1] * batch;
  const double waves = std::ceil(count / model.rates.multiprocessors);
  const double k = body / (waves * tile_ns_per_k(model.fit, model.rates, tile->m, tile->n)) -
                   model.fit.tile_overhead_k;
  if (!(k >= 16)) return std::nullopt;
  return GemmShape{batch, grid[0] * tile->m, grid[1] * tile->n, k};
}

}  // namespace foretrace
