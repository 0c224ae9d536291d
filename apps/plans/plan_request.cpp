#include "apps/plans/plan_request.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace foretrace {
namespace {

/// Those of the catalogue that say they run on this device.
Result<std::vector<Framework>> frameworks_of(const Catalogue& known,
                                             const Accelerator& accelerator) {
  std::vector<Framework> all;
  for (const std::string& name : framework_names(known)) {
    FORETRACE_TRY(auto one, find_framework(known, name));
    if (!one.runs_on.empty() && runs_on(one, accelerator)) all.push_back(std::move(one));
  }
  return all;
}

Result<Framework> framework_for(const Catalogue& known, const std::string& name,
                                const Accelerator& accelerator) {
  if (name.empty()) return usual_framework(known, accelerator);
  FORETRACE_TRY(auto framework, find_framework(known, name));
  if (runs_on(framework, accelerator) || platform_of(accelerator).empty()) return framework;
  FORETRACE_TRY(const auto others, frameworks_of(known, accelerator));
  std::vector<std::string_view> names;
  for (const Framework& one : others) names.push_back(one.name);
  return Error{
      ErrorCode::bad_config,
      fmt::format("framework: got {}, which runs on {}, expected one that runs on {} ({}): "
                  "{}",
                  framework.name, fmt::join(framework.runs_on, ", "), platform_of(accelerator),
                  accelerator.product, fmt::join(names, ", "))};
}

}  // namespace

Result<Framework> usual_framework(const Catalogue& known, const Accelerator& accelerator) {
  const std::string_view own = platform_of(accelerator);
  const std::string_view platform = own.empty() ? platform_words.front() : own;
  for (const std::string& name : framework_names(known)) {
    FORETRACE_TRY(auto one, find_framework(known, name));
    if (std::find(one.usual_on.begin(), one.usual_on.end(), platform) != one.usual_on.end()) {
      return one;
    }
  }
  return Error{ErrorCode::not_found,
               fmt::format("framework: {} names none that is usual on {}, expected a name",
                           known.directory(), platform)};
}

Result<Scenario> scenario_of(const Catalogue& known, const PlanRequest& request) {
  FORETRACE_TRY(auto model, find_model(known, request.model));
  FORETRACE_TRY(auto cluster, find_cluster(known, request.cluster));
  FORETRACE_TRY(auto framework, framework_for(known, request.framework, cluster.accelerator));
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
