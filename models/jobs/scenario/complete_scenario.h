// Completes scenarios: what stands between a file and a job that can be computed.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "models/jobs/program/job.h"
#include "models/jobs/program/job_figures.h"
#include "models/jobs/scenario/scenario.h"
#include "models/jobs/times/framework.h"
#include "models/jobs/workloads/model_spec.h"
#include "sim/core/result.h"

namespace foretrace {

/// Completes one scenario after another; what they have in common is computed once. One per
/// thread; models and frameworks of the scenarios must outlive it.
class ScenarioCompletion {
 public:
  /// Pads the vocabulary, takes the framework as it computes in the job's precision, sets the job's
  /// pointers, and checks plan and amounts.
  [[nodiscard]] Status complete(Scenario& scenario);
  /// What amounts_of() gives.
  [[nodiscard]] const ModelAmounts& amounts(const Job& job);

 private:
  using Padding = std::pair<const ModelSpec*, double>;

  std::map<Padding, std::shared_ptr<const ModelSpec>> padded_;
  std::map<const Framework*, std::shared_ptr<const Framework>> in_32_bit_;
  std::map<Job, ModelAmounts> amounts_;  ///< by job_of_amounts()
};

}  // namespace foretrace
