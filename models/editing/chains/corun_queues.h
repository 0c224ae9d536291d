// Two queues of kernels that share one device: which kernel ends when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/editing/chains/corun_model.h"
#include "models/hardware/catalogue/accelerator.h"
#include "sim/graph/task.h"

namespace foretrace::editing {

struct QueuedKernel {
  Bottleneck bottleneck{};
  double ns = 0;       ///< alone
  bool fills = false;  ///< it leaves no room for blocks of another kernel
};
struct EndedKernel {
  bool second = false;    ///< of the second queue
  std::size_t index = 0;  ///< in its queue
  std::int64_t ns = 0;    ///< since the end before it, of either queue
  bool beside = false;    ///< it ran beside another kernel for some time
};

/// True if a kernel's grid is known and takes all of the device: of products, convolutions and
/// attention one block a multiprocessor, since they use its shared memory; of others all threads.
[[nodiscard]] bool fills_device(const Work& work, const KernelTraits& traits,
                                const Accelerator& accelerator);

/// While two kernels run beside each other, both progress at 1 / (1 + conflict): then a pair takes
/// longer + conflict x shorter, as CorunModel says, and long kernels go on beside the next ones.
/// Where the conflict is above 1 they take turns. `conflict` below 0: they take turns where one of
/// them fills the device, since the blocks of a kernel are handed out before those of the next one,
/// else by bottlenecks. Pairs measured on an H100 (examples/traces/h100/corun.csv), on which
/// nothing was set: those with a kernel that fills it miss the measured time by 6 % in the mean,
/// those of two small ones by 23 %; by bottlenecks alone all of them miss it by 19 %.
[[nodiscard]] std::vector<EndedKernel> run_beside(const CorunModel& model,
                                                  std::span<const QueuedKernel> first,
                                                  std::span<const QueuedKernel> second,
                                                  double conflict);

}  // namespace foretrace::editing
