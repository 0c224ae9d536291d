#include "models/jobs/scenario/job_fields.h"

#include <algorithm>

#include "models/jobs/workloads/layered.h"

namespace foretrace {

ParallelPlan unstated_plan(const TransformerSpec& model) {
  ParallelPlan plan;
  plan.expert_tensor = 0;
  if (!model.is_recorded()) return plan;
  const RecordedGroups& recorded = *model.layered->recorded;
  plan.tensor = std::max(1U, recorded.tensor);
  plan.expert = std::max(1U, recorded.expert);
  plan.data = std::max(1U, recorded.data);
  // Its experts lie a tensor group apart.
  if (plan.expert > 1) plan.expert_tensor = plan.tensor;
  return plan;
}

void decide_open(ParallelPlan& plan, const TransformerSpec& model) {
  if (plan.expert_tensor == 0) plan.expert_tensor = usual_expert_tensor(plan, model);
}

void reopen(ParallelPlan& plan, const TransformerSpec& model) {
  const bool is_usual = plan.expert_tensor == usual_expert_tensor(plan, model);
  if (is_usual && unstated_plan(model).expert_tensor == 0) plan.expert_tensor = 0;
}

std::uint32_t unstated_pipeline(const Job& job) {
  return std::max(1U, static_cast<std::uint32_t>(job.stages.size()) / std::max(1U, job.chunks));
}

}  // namespace foretrace
