// The ways to spread the recorded run of one device over a cluster, the best first: every one a
// what-if of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/session/session.h"
#include "models/hardware/networks/cluster.h"
#include "sim/core/result.h"

namespace foretrace {

struct RecordedQuestion {
  std::string cluster;  ///< as `--cluster` takes it
  std::uint32_t gpus = 1;
  std::size_t layers = 0;  ///< see the parameter of the what-if
  std::size_t keep = 5;    ///< plans that are looked at closely
};

/// One way to spread the run.
struct RecordedPlan {
  std::uint32_t data = 1;
  std::uint32_t tensor = 1;
  std::uint32_t pipeline = 1;
  std::uint32_t zero = 0;
  std::string settings;  ///< what `whatif --parallel` takes
  double batch = 1;      ///< of every pass, as `batch_size` makes it first / the recorded one
  std::int64_t step_ns = 0;
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
  double samples = 1;     ///< of a step / of a recorded one
  double speedup = 1;     ///< samples per second / those of the recorded device
  double efficiency = 1;  ///< time that one device needs for the same samples / time of all devices
  std::optional<double> samples_per_s;
  std::optional<std::int64_t> memory_bytes;  ///< that a rank needs; none: no tensors are known
  bool fits = true;

  /// Does the samples of a recorded step: plans that do differ in time alone.
  [[nodiscard]] bool is_equal_work() const { return samples > 1 - 1e-9 && samples < 1 + 1e-9; }
  std::int64_t exposed_ns =
      -1;  ///< of a step: collectives beside which nothing runs; -1: not asked
};

/// A plan that the recording cannot be spread by.
struct RefusedPlan {
  std::string settings;
  double batch = 1;  ///< see RecordedPlan
  std::string why;
};

struct RecordedPlans {
  std::uint32_t gpus = 1;
  Cluster cluster;
  std::int64_t recorded_step_ns = 0;
  std::uint32_t recorded_devices = 1;  ///< of the largest group that the recording took part in
  std::size_t too_large = 0;           ///< of the plans: do not fit into memory
  /// Those that fit first, then those of equal work, then by samples per second.
  std::vector<RecordedPlan> plans;
  std::vector<RefusedPlan> refused;
};

/// Groups of all sizes that divide the devices, up to a node and to 16 stages, each with the
/// samples of a recorded step and, where it would do more so, with the recorded batch in every
/// pass. If the cluster has another accelerator, kernels are moved to it. Errors: an unknown cluster, more devices than it
/// has. A run that nothing spreads is an answer without plans.
[[nodiscard]] Result<RecordedPlans> plan_recording(const Session& session,
                                                   const RecordedQuestion& question);

}  // namespace foretrace
