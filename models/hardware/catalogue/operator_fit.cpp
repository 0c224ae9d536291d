// The forms: a roofline, tiles in waves, rows. Written for few operations per candidate, because a
// fit asks for them a million times.
#include "models/hardware/catalogue/operator_fit.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace foretrace {
namespace {

constexpr std::array<std::string_view, operator_kind_count> kind_names = {
    "gemm", "batched_gemm", "softmax",          "layer_norm", "rms_norm",
    "gelu", "add",          "gated_activation", "rope",       "embedding"};

struct Tile {
  double m;
  double n;
};
// What cuBLAS chooses from on Volta to Hopper, as far as kernel names show it.
constexpr std::array tiles = {Tile{256, 128}, Tile{128, 256}, Tile{128, 128},
                              Tile{128, 64},  Tile{64, 128},  Tile{64, 64}};
constexpr std::array splits = {1.0, 2.0, 3.0, 4.0, 6.0, 8.0};
constexpr double smallest_split_k = 64;
// Shapes come from traces: what no device could do in a year is no shape.
constexpr double largest_work = 1e26;

double product_bytes(const DeviceRates& device, const OperatorShape& shape) {
  return device.number_bytes * shape.numbers();
}

double roofline_ns(const OperatorFit& fit, const DeviceRates& device, double flops, double bytes) {
  const double compute = flops > 0 ? flops / (device.flops_per_ns * fit.rate_share) : 0;
  return fit.fixed_ns + std::max(compute, bytes / (device.bytes_per_ns * fit.bandwidth_share));
}

double tiles_ns(const OperatorFit& fit, const DeviceRates& device, const OperatorShape& shape) {
  const double bytes_per_ns = device.bytes_per_ns * fit.bandwidth_share;
  const double operands = product_bytes(device, shape);
  double best = HUGE_VAL;
  for (const Tile& tile : tiles) {
    const double grid = std::ceil(shape.m / tile.m) * std::ceil(shape.n / tile.n) * shape.batch;
    const double per_k = tile_ns_per_k(fit, device, tile.m, tile.n);
    for (const double split : splits) {
      if (split > 1 && shape.k / split < smallest_split_k) break;
      const double waves = std::ceil(grid * split / device.multiprocessors);
      const double compute = waves * per_k * (shape.k / split + fit.tile_overhead_k);
      // Partial sums are written and read in fp32.
      const double partial = split > 1 ? 8 * shape.batch * shape.m * shape.n * split : 0;
      const double memory = (operands + partial) / bytes_per_ns;
      best = std::min(best, std::max(compute, memory) + (split > 1 ? fit.split_ns : 0));
    }
  }
  return best + fit.fixed_ns;
}

double rows_ns(const OperatorFit& fit, const DeviceRates& device, const OperatorShape& shape) {
  const double row = shape.n * device.number_bytes;
  const double excess = std::max(0.0, row - fit.row_limit);
  const double moved = numbers_per_element(fit.kind) * (row + (fit.excess_passes - 1) * excess);
  const double all_rows = shape.batch * shape.m * moved;
  const double memory = all_rows / (device.bytes_per_ns * fit.bandwidth_share);
  const double block = moved / fit.row_bytes_per_ns;
  return fit.fixed_ns + std::sqrt(memory * memory + block * block);
}

}  // namespace

std::string_view to_string(OperatorKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

std::optional<OperatorKind> operator_kind(std::string_view name) {
  const auto* found = std::find(kind_names.begin(), kind_names.end(), name);
  if (found == kind_names.end()) return std::nullopt;
  return static_cast<OperatorKind>(found - kind_names.begin());
}

double numbers_per_element(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::add:
    case OperatorKind::gated_activation: return 3;
    case OperatorKind::gemm:
    case OperatorKind::batched_gemm:
    case OperatorKind::softmax:
    case OperatorKind::layer_norm:
    case OperatorKind::rms_norm:
    case OperatorKind::gelu:
    case OperatorKind::rope:
    case OperatorKind::embedding: return 2;
  }
  return 2;
}

std::string_view to_string(FitForm form) {
  switch (form) {
    case FitForm::roofline: return "roofline";
    case FitForm::tiles: return "tiles";
    case FitForm::rows: return "rows";
  }
  return "roofline";
}

double tile_ns_per_k(const OperatorFit& fit, const DeviceRates& device, double tile_m,
                     double tile_n) {
  // rate_share belongs to the largest tile.
  const double largest = 1 + fit.operand_traffic * (1.0 / 256 + 1.0 / 128);
  const double traffic = 1 + fit.operand_traffic * (1 / tile_m + 1 / tile_n);
  const double rate = device.flops_per_ns * fit.rate_share / device.multiprocessors;
  return 2 * tile_m * tile_n * traffic / (rate * largest);
}

double fitted_ns(const OperatorFit& fit, const DeviceRates& device, const OperatorShape& shape) {
  const double outputs = shape.batch * shape.m * shape.n;
  if (!(device.bytes_per_ns > 0) || !(outputs > 0 && outputs < largest_work)) return 0;
  if (!is_product(fit.kind)) {
    if (fit.form == FitForm::rows) return rows_ns(fit, device, shape);
    const double numbers = shape.batch * shape.m * shape.n * numbers_per_element(fit.kind);
    return roofline_ns(fit, device, 0, numbers * device.number_bytes);
  }
  if (!(device.flops_per_ns > 0) || !(shape.k > 0) || !(shape.flops() < largest_work)) return 0;
  if (fit.form == FitForm::tiles) return tiles_ns(fit, device, shape);
  return roofline_ns(fit, device, shape.flops(), product_bytes(device, shape));
}

}  // namespace foretrace
