// Estimates of many jobs in a row: what jobs have in common is computed once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "models/program/estimate.h"
#include "models/program/job.h"

namespace foretrace::driver {

/// Gives what estimate(job, build_blocks(job)) gives. One per thread; what jobs point to must
/// outlive it.
class PlanEstimates {
 public:
  [[nodiscard]] Result<Estimate> of(const Job& job);
  /// Of each block of a rank: what of() computes the step from.
  [[nodiscard]] const std::vector<BlockTimes>& times_of(const Job& job);

 private:
  /// All that times of blocks depend on: the share of a step that a stage waits decides its clock.
  using Key = std::tuple<const TransformerSpec*, const Cluster*, const Framework*, Pass, Precision,
                         bool, Recompute, bool, double, double, double, double, ContextKind,
                         std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                         unsigned, std::vector<StageShare>>;
  struct Known {
    JobBlocks blocks;  ///< without their programs
    std::vector<BlockTimes> times;
  };
  [[nodiscard]] static Key key_of(const Job& job);
  [[nodiscard]] const Known& known(const Job& job);

  std::map<Key, Known> known_;
  Key last_key_{};
  const Known* last_ = nullptr;  ///< neighbours in a space often share it
};

}  // namespace foretrace::driver
