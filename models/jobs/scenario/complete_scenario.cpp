#include "models/jobs/scenario/complete_scenario.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "models/jobs/scenario/job_fields.h"
#include "models/jobs/schedules/schedule.h"

namespace foretrace {
namespace {

// Lengths may be drawn from a range; a walk through a space comes back to the last few.
constexpr std::size_t most_amounts = 8192;

/// The model with a vocabulary that every tensor rank has whole tiles of, where the framework pads
/// it; the same model where nothing is to be padded.
std::shared_ptr<const ModelSpec> padded_model(const std::shared_ptr<const ModelSpec>& model,
                                              double multiple) {
  const double vocabulary = model->transformer.vocabulary;
  if (std::fmod(vocabulary, multiple) == 0) return model;
  ModelSpec padded = *model;
  padded.transformer.vocabulary = std::ceil(vocabulary / multiple) * multiple;
  return std::make_shared<const ModelSpec>(std::move(padded));
}

}  // namespace

Status ScenarioCompletion::complete(Scenario& scenario) {
  Job& job = scenario.job;
  if (job.schedule == nullptr) {
    FORETRACE_TRY(job.schedule, find_schedule(job_fields::usual_schedule));
  }
  if (scenario.framework->vocabulary_multiple > 1) {
    std::uint32_t tensor = job.plan.tensor;
    for (const StageShare& share : job.stages) tensor = std::max(tensor, share.tensor);
    const double multiple = scenario.framework->vocabulary_multiple * tensor;
    auto& padded = padded_[{scenario.model.get(), multiple}];
    if (padded == nullptr) padded = padded_model(scenario.model, multiple);
    scenario.model = padded;
  }
  job.model = &scenario.model->transformer;
  job.cluster = scenario.cluster.get();
  if (is_32_bit(job.precisions)) {
    auto& known = in_32_bit_[scenario.framework.get()];
    if (known == nullptr) known = computing_in(job.precisions, scenario.framework);
    scenario.framework = known;
  }
  job.framework = scenario.framework.get();
  decide_open(job.plan, *job.model);
  FORETRACE_TRY(check_job(job));
  return check_amounts(job, amounts(job));
}

const ModelAmounts& ScenarioCompletion::amounts(const Job& job) {
  if (amounts_.size() >= most_amounts) amounts_.clear();
  const auto [found, is_new] = amounts_.try_emplace(job_of_amounts(job));
  if (is_new) found->second = amounts_of(job);
  return found->second;
}

}  // namespace foretrace
