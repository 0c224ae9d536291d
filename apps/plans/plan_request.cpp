#include "apps/plans/plan_request.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace foretrace {

Result<Scenario> scenario_of(const Catalogue& known, const PlanRequest& request) {
  FORETRACE_TRY(auto model, find_model(known, request.model));
  FORETRACE_TRY(auto cluster, find_cluster(known, request.cluster));
  FORETRACE_TRY(auto framework, find_framework(known, request.framework));
  FORETRACE_TRY(
      auto precisions,
      precisions_of(request.precision.empty() ? std::string(usual_precision(cluster.accelerator))
                                              : request.precision));
  Scenario scenario;
  scenario.model = std::make_shared<const ModelSpec>(std::move(model));
  scenario.cluster = std::make_shared<const Cluster>(std::move(cluster));
  scenario.framework = std::make_shared<const Framework>(std::move(framework));
  scenario.job.precisions = precisions;
  scenario.job.length = request.sequence > 0 ? static_cast<double>(request.sequence)
                                             : usual_length(scenario.model->transformer);
  if (scenario.model->transformer.layered != nullptr && scenario.job.length != 1) {
    return Error{ErrorCode::bad_config,
                 fmt::format("sequence: a sample of {} has no tokens, got {}, expected 1",
                             scenario.model->name, scenario.job.length)};
  }
  scenario.job.keys = scenario.job.length;
  return scenario;
}

std::string_view usual_precision(const Accelerator& accelerator) {
  for (const Precision precision : {Precision::bf16, Precision::fp16}) {
    if (accelerator.flops(precision) > 0) return to_string(precision);
  }
  return to_string(Precision::fp32);
}

double usual_length(const TransformerSpec& model) {
  // Models that take more learn it at the end of their training, as Llama 3 (2024) does.
  constexpr double most_of_training = 8192;
  return std::min(model.positions, most_of_training);
}

std::uint32_t power_of_two_within(std::uint32_t most) { return std::bit_floor(most); }

}  // namespace foretrace
