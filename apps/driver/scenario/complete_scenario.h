// Completes scenarios: what stands between a file and a job that can be computed.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "apps/driver/scenario/job_figures.h"
#include "apps/driver/scenario/scenario.h"
#include "models/program/framework.h"
#include "models/program/job.h"
#include "models/workloads/model_spec.h"
#include "sim/core/result.h"

namespace foretrace::driver {

/// Completes one scenario after another; what they have in common is computed once. One per
/// thread; models and frameworks of the scenarios must outlive it.
class ScenarioCompletion {
 public:
  /// Pads the vocabulary, sets the job's pointers, and checks plan and amounts.
  [[nodiscard]] Status complete(Scenario& scenario);

 private:
  using Padding = std::pair<const ModelSpec*, double>;
  using AmountsKey = std::tuple<const ModelSpec*, const Framework*, Pass, double, double>;

  [[nodiscard]] const ModelAmounts& amounts_for(const ModelSpec* model, const Job& job);

  std::map<Padding, std::shared_ptr<const ModelSpec>> padded_;
  std::map<AmountsKey, ModelAmounts> amounts_;
};

}  // namespace foretrace::driver
