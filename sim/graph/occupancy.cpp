#include "sim/graph/occupancy.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace foretrace {
namespace {

constexpr int warp = 32;
constexpr int most_blocks = 32;                 // per multiprocessor; 16 on a few small parts
constexpr int register_unit = 256;              // per warp
constexpr std::int64_t reserved_shared = 1024;  // per block, since compute capability 8.0

/// What a block takes of a multiprocessor.
struct BlockCost {
  int threads = 0;
  int registers = 0;
  std::int64_t shared = 0;
};

std::optional<BlockCost> cost_of(const Work& kernel, const DeviceInfo& device) {
  const int threads = kernel.block[0] * std::max(1, kernel.block[1]) * std::max(1, kernel.block[2]);
  if (threads <= 0 || device.max_threads_per_multiprocessor <= 0) return std::nullopt;
  const int warps = (threads + warp - 1) / warp;
  const int per_warp = (kernel.registers_per_thread * warp + register_unit - 1) / register_unit;
  BlockCost cost;
  cost.threads = warps * warp;
  cost.registers = warps * per_warp * register_unit;
  cost.shared = kernel.shared_memory_bytes + (device.compute_major >= 8 ? reserved_shared : 0);
  return cost;
}

int blocks_that_fit(const BlockCost& cost, const DeviceInfo& device) {
  int blocks = std::min(most_blocks, device.max_threads_per_multiprocessor / cost.threads);
  if (cost.registers > 0 && device.registers_per_multiprocessor > 0) {
    blocks = std::min(blocks, device.registers_per_multiprocessor / cost.registers);
  }
  if (cost.shared > 0 && device.shared_memory_per_multiprocessor > 0) {
    const std::int64_t fit = device.shared_memory_per_multiprocessor / cost.shared;
    blocks = static_cast<int>(std::min<std::int64_t>(blocks, fit));
  }
  return std::max(blocks, 1);
}

}  // namespace

std::optional<int> blocks_per_multiprocessor(const Work& kernel, const DeviceInfo& device) {
  const std::optional<BlockCost> cost = cost_of(kernel, device);
  return cost ? std::optional<int>(blocks_that_fit(*cost, device)) : std::nullopt;
}

std::optional<double> waves(const Work& kernel, const DeviceInfo& device) {
  const std::optional<int> held = blocks_per_multiprocessor(kernel, device);
  if (!held || kernel.grid[0] <= 0 || device.multiprocessors <= 0) return std::nullopt;
  const double blocks = static_cast<double>(kernel.grid[0]) * std::max(1, kernel.grid[1]) *
                        std::max(1, kernel.grid[2]);
  return blocks / (static_cast<double>(*held) * device.multiprocessors);
}

std::optional<double> fill_fraction(const Work& kernel, const Work& waiter,
                                    const DeviceInfo& device) {
  const std::optional<double> count = waves(kernel, device);
  const std::optional<BlockCost> cost = cost_of(kernel, device);
  const std::optional<BlockCost> other = cost_of(waiter, device);
  if (!count || !cost || !other) return std::nullopt;
  if (*count > 1.0) return 1.0 - 1.0 / std::ceil(*count);
  const double per_multiprocessor = *count * blocks_that_fit(*cost, device);
  const bool room =
      per_multiprocessor * cost->threads + other->threads <=
          device.max_threads_per_multiprocessor &&
      per_multiprocessor * cost->registers + other->registers <=
          device.registers_per_multiprocessor &&
      per_multiprocessor * static_cast<double>(cost->shared) + static_cast<double>(other->shared) <=
          static_cast<double>(device.shared_memory_per_multiprocessor);
  return room ? 0.0 : 1.0;
}

}  // namespace foretrace
