// Estimates of many jobs in a row: what jobs have in common is computed once.
#pragma once

#include <cstddef>
#include <map>

#include "models/jobs/program/estimate.h"
#include "models/jobs/program/rank_program.h"

namespace foretrace {

/// Gives what estimate(job) gives. One per thread; what jobs point to must
/// outlive it.
class PlanEstimates {
 public:
  [[nodiscard]] Result<Estimate> of(const Job& job, Passes passes = Passes::by_formula);

 private:
  struct Known {
    RankProgram lowered;
    std::map<StageWaits, RankProgram> by_waits;  ///< with times
  };
  [[nodiscard]] const RankProgram& blocks_of(const Job& job);

  std::map<Job, Known> known_;   ///< by job_of_blocks()
  std::size_t bytes_known_ = 0;  ///< about what known_ holds
  // Neighbours in a space often share them.
  Job last_job_;
  StageWaits last_waits_;
  const RankProgram* last_ = nullptr;
};

}  // namespace foretrace
