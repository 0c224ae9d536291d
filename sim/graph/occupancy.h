// Occupancy: how many thread blocks of a kernel a device holds, and when the last one is placed.
#pragma once

#include <optional>

#include "sim/graph/task.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// Thread blocks of this kernel that one multiprocessor holds at a time, limited by threads,
/// registers and shared memory (CUDA C++ Programming Guide, "Compute Capabilities": registers are
/// given per warp in units of 256, at most 32 blocks per multiprocessor). nullopt: not recorded.
[[nodiscard]] std::optional<int> blocks_per_multiprocessor(const Work& kernel,
                                                           const DeviceInfo& device);

/// How often the kernel's grid fills the device: blocks / (multiprocessors x blocks each holds).
[[nodiscard]] std::optional<double> waves(const Work& kernel, const DeviceInfo& device);

/// Share of the kernel's duration after which it has placed its last block and leaves room for
/// kernels of other streams: 1 - 1 / ceil(waves) where it needs more than one wave (waves take
/// equal times); 0 where it fits and leaves room for a block of `waiter`, 1 where it fits but
/// leaves none.
[[nodiscard]] std::optional<double> fill_fraction(const Work& kernel, const Work& waiter,
                                                  const DeviceInfo& device);

}  // namespace foretrace
