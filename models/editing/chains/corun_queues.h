// Two queues of kernels that share one device: which kernel ends when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/editing/chains/corun_model.h"

namespace foretrace::editing {

struct QueuedKernel {
  Bottleneck bottleneck{};
  double ns = 0;  ///< alone
};
struct EndedKernel {
  bool second = false;    ///< of the second queue
  std::size_t index = 0;  ///< in its queue
  std::int64_t ns = 0;    ///< since the end before it, of either queue
  bool beside = false;    ///< it ran beside another kernel for some time
};

/// While two kernels run beside each other, both progress at 1 / (1 + conflict): then a pair takes
/// longer + conflict x shorter, as CorunModel says, and long kernels go on beside the next ones.
/// Where the conflict is above 1 they take turns. `conflict` below 0: by bottlenecks.
[[nodiscard]] std::vector<EndedKernel> run_beside(const CorunModel& model,
                                                  std::span<const QueuedKernel> first,
                                                  std::span<const QueuedKernel> second,
                                                  double conflict);

}  // namespace foretrace::editing
