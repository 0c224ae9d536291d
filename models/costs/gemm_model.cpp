// The tile form and its constants, fitted to 372 fp16 products of the LLMCompass (ISCA 2024) and
// Vidur (MLSys 2024) operator tables on the A100; 6.3 % mean error on the third held back.
#include "models/costs/gemm_model.h"

#include <algorithm>
#include <cmath>

namespace foretrace {
namespace {

struct Tile {
  double m;
  double n;
};
constexpr std::array tiles = {Tile{256, 128}, Tile{128, 256}, Tile{128, 128},
                              Tile{128, 64},  Tile{64, 128},  Tile{64, 64}};
constexpr std::array splits = {1.0, 2.0, 3.0, 4.0, 6.0, 8.0};
constexpr double smallest_split_k = 64;

// On-chip operand traffic: a tile reaches 1 / (1 + c (1/m + 1/n)) of what an endless one would.
constexpr double operand_traffic = 15.7;
// Prologue and epilogue of a tile in units of k.
constexpr double tile_overhead_k = 55;
constexpr double tile_overhead_k_batched = 128;
constexpr double split_reduction_ns = 2000;

// Relative to the largest tile, to which sustained rates of large products belong.
double tile_efficiency(const Tile& tile) {
  constexpr double largest = 1 + operand_traffic * (1.0 / 256 + 1.0 / 128);
  return largest / (1 + operand_traffic * (1 / tile.m + 1 / tile.n));
}

// FLOP per ns and multiprocessor.
struct Machine {
  double flops_per_ns = 0;
  double multiprocessors = 1;
  double bytes_per_ns = 1;
  double number_bytes = 4;
};

Machine machine_of(const Accelerator& accelerator, Precision precision) {
  Machine machine;
  machine.multiprocessors = std::max(accelerator.multiprocessors, 1);
  machine.flops_per_ns =
      sustained_rate(accelerator, precision, KernelClass::gemm) * 1e-9 / machine.multiprocessors;
  machine.bytes_per_ns = accelerator.memory_bandwidth * bandwidth_share(KernelClass::gemm) * 1e-9;
  machine.number_bytes = bytes_per_number(precision);
  return machine;
}

double overhead_k(double batch) { return batch > 1 ? tile_overhead_k_batched : tile_overhead_k; }

double tile_ns(const Machine& machine, const Tile& tile, double k) {
  return 2 * tile.m * tile.n * k / (machine.flops_per_ns * tile_efficiency(tile));
}

// "ampere_sgemm_128x64_tn" -> 128, 64: the first <number>x<number> after an underscore.
std::optional<Tile> tile_in_name(std::string_view name) {
  const auto digits = [&](std::size_t from) {
    std::size_t end = from;
    while (end < name.size() && end < from + 4 && name[end] >= '0' && name[end] <= '9') ++end;
    return end;
  };
  const auto number = [&](std::size_t from, std::size_t end) {
    double value = 0;
    for (; from < end; ++from) value = value * 10 + (name[from] - '0');
    return value;
  };
  for (std::size_t i = 1; i < name.size(); ++i) {
    if (name[i - 1] != '_') continue;
    const std::size_t middle = digits(i);
    if (middle == i || middle >= name.size() || name[middle] != 'x') continue;
    const std::size_t end = digits(middle + 1);
    if (end == middle + 1) continue;
    const Tile tile{number(i, middle), number(middle + 1, end)};
    if (tile.m >= 16 && tile.m <= 512 && tile.n >= 16 && tile.n <= 512) return tile;
    return std::nullopt;
  }
  return std::nullopt;
}

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

}  // namespace

double gemm_ns(const Accelerator& accelerator, Precision precision, const GemmShape& shape) {
  const Machine machine = machine_of(accelerator, precision);
  if (!(machine.flops_per_ns > 0) || !(shape.flops() > 0)) return 0;
  const double operand_bytes = machine.number_bytes * shape.numbers();
  double best = HUGE_VAL;
  for (const Tile& tile : tiles) {
    for (const double split : splits) {
      if (split > 1 && shape.k / split < smallest_split_k) break;
      const double count =
          std::ceil(shape.m / tile.m) * std::ceil(shape.n / tile.n) * shape.batch * split;
      const double waves = std::ceil(count / machine.multiprocessors);
      const double compute =
          waves * tile_ns(machine, tile, shape.k / split + overhead_k(shape.batch));
      // Partial sums are written and read in fp32.
      const double partial = split > 1 ? 8 * shape.batch * shape.m * shape.n * split : 0;
      const double memory = (operand_bytes + partial) / machine.bytes_per_ns;
      best = std::min(best, std::max(compute, memory) + (split > 1 ? split_reduction_ns : 0));
    }
  }
  return best + shortest_kernel_ns(KernelClass::gemm);
}

std::optional<GemmShape> gemm_from_grid(const Accelerator& accelerator, Precision precision,
                                        std::string_view kernel_name,
                                        const std::array<std::int32_t, 3>& grid,
                                        std::int64_t measured_ns) {
  // One block per tile holds for the cuBLAS kernels of Volta, Turing and Ampere.
  const bool one_block_per_tile =
      has(kernel_name, "ampere_") || has(kernel_name, "volta_") || has(kernel_name, "turing_");
  if (!one_block_per_tile || !has(kernel_name, "gemm") || has(kernel_name, "splitK") ||
      has(kernel_name, "sliced")) {
    return std::nullopt;
  }
  const auto tile = tile_in_name(kernel_name);
  if (!tile || grid[0] <= 0 || grid[1] <= 0 || grid[2] <= 0) return std::nullopt;
  const Machine machine = machine_of(accelerator, precision);
  const double body = static_cast<double>(measured_ns) - shortest_kernel_ns(KernelClass::gemm);
  if (!(machine.flops_per_ns > 0) || !(body > 0)) return std::nullopt;

  const double batch = grid[2];
  const double count = static_cast<double>(grid[0]) * grid[1] * batch;
  const double waves = std::ceil(count / machine.multiprocessors);
  const double k = body / (waves * tile_ns(machine, *tile, 1)) - overhead_k(batch);
  if (!(k >= 16)) return std::nullopt;
  return GemmShape{batch, grid[0] * tile->m, grid[1] * tile->n, k};
}

}  // namespace foretrace
