// What a profiler wrote down on the threads of the host: each event took the host's time.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/session/recording/recording.h"

namespace foretrace {

/// Events by task of the host: in the host time before it, and in the task itself.
struct HostEvents {
  std::vector<std::uint32_t> before;
  std::vector<std::uint32_t> inside;
  double per_step = 0;  ///< 0: none that matter, the vectors are zeros
};

/// Operators, calls, frames, ranges and memory on the threads of the graph. None in a job, and in
/// what other recorders wrote: a name and two times, where PyTorch's writes shapes and stacks too.
[[nodiscard]] HostEvents host_events(const Recording& recording);

}  // namespace foretrace
