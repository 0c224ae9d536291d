// Estimates of many jobs in a row: what jobs have in common is computed once.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "models/jobs/program/estimate.h"
#include "models/jobs/program/job.h"

namespace foretrace {

/// Gives what estimate(job, build_blocks(job)) gives. One per thread; what jobs point to must
/// outlive it.
class PlanEstimates {
 public:
  [[nodiscard]] Result<Estimate> of(const Job& job, Passes passes = Passes::by_formula);
  /// Of each block of a rank: what of() computes the step from.
  [[nodiscard]] const std::vector<BlockTimes>& times_of(const Job& job);

 private:
  struct Known {
    JobBlocks blocks;
    std::map<double, std::vector<BlockTimes>> times;  ///< by clock_share()
  };
  struct Found {
    const JobBlocks* blocks = nullptr;
    const std::vector<BlockTimes>* times = nullptr;
  };
  [[nodiscard]] Found found(const Job& job);

  std::map<Job, Known> known_;   ///< by job_of_blocks()
  std::size_t bytes_known_ = 0;  ///< about what known_ holds
  // Neighbours in a space often share them.
  Job last_job_;
  double last_share_ = 0;
  Found last_;
};

}  // namespace foretrace
