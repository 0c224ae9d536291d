// Minimum-cost assignment of jobs to places on machines, where a later place waits for the earlier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace foretrace::scheduling {

/// Run times of jobs on kinds of machines, and how many machines of each kind there are. A time
/// that is not finite means that the job cannot run there.
struct MachineAssignment {
  std::vector<std::vector<double>> times;  ///< [job][kind]
  std::vector<std::int32_t> machines;      ///< per kind
};

/// The kind of every job such that the sum of finish times is least, if each machine runs its jobs
/// one after the other, shortest first: the k-th job from the end delays k jobs (Horn 1973; Bruno,
/// Coffman and Sethi 1974). -1: no machine can run it.
[[nodiscard]] std::vector<std::int32_t> least_mean_finish(const MachineAssignment& problem);

}  // namespace foretrace::scheduling
