// Jobs that were never recorded: a scenario on other clusters and with more or fewer accelerators.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apps/predictor/source.h"
#include "apps/session/load_run.h"
#include "models/jobs/figures/device_memory.h"
#include "models/jobs/program/estimate.h"
#include "models/jobs/program/job_figures.h"
#include "models/jobs/program/ranged_step.h"
#include "models/jobs/scenario/scenario.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

Error not_recorded(std::string_view what) {
  return {ErrorCode::unsupported,
          fmt::format("placement: {}: the job is a scenario, expected a recorded one", what)};
}

class ScenarioJob final : public Predictor::Source {
 public:
  ScenarioJob(Scenario scenario, CataloguePtr catalogue)
      : scenario_(std::move(scenario)), catalogue_(std::move(catalogue)) {}

  Status start() {
    FORETRACE_TRY(auto own, predict({}));
    step_ns_ = own.step_ns;
    return ok_status();
  }

  Result<StepPrediction> predict(const JobPlacement& placement) const override {
    FORETRACE_TRY(auto there, at(placement));
    if (!there.what_ifs.empty()) return changed(there);
    const Job& job = there.job;
    FORETRACE_TRY(const auto program, build_program(job));
    FORETRACE_TRY(const auto estimated, estimate(job, program));
    FORETRACE_TRY(const auto range, ranged_step(job, program));
    StepPrediction answer;
    answer.step_ns = range.step_ns;
    answer.low_ns = range.low_ns;
    answer.high_ns = range.high_ns;
    answer.memory_bytes = to_whole(fullest_bytes(estimated.memory));
    answer.fits = fits_device(job, estimated.memory);
    return answer;
  }

  Result<StepPrediction> predict_half(const JobPlacement& /*placement*/) const override {
    return not_recorded("corun");
  }
  Result<DeviceUse> use(const JobPlacement& /*placement*/) const override {
    return not_recorded("corun");
  }
  Result<std::int64_t> device_bytes(const JobPlacement& placement) const override {
    FORETRACE_TRY(auto there, at(placement));
    return there.job.cluster->accelerator.memory_bytes;
  }
  Result<std::int64_t> state_bytes() const override {
    const Framework& framework = *scenario_.framework;
    const double per_parameter =
        framework.weight_bytes + (scenario_.job.trains() ? framework.state_bytes : 0);
    return to_whole(model_parameters(scenario_.job) * per_parameter);
  }
  [[nodiscard]] std::size_t tasks() const override { return 0; }
  [[nodiscard]] std::int64_t step_ns() const override { return step_ns_; }

 private:
  /// With what-ifs: its operators are simulated.
  Result<StepPrediction> changed(const Scenario& there) const {
    FORETRACE_TRY(const auto told, answer_what_ifs(there, catalogue_));
    StepPrediction answer;
    answer.step_ns = told.step_ns();
    answer.low_ns = told.low_ns();
    answer.high_ns = told.high_ns();
    if (told.need()) answer.memory_bytes = told.need()->live_bytes;
    answer.fits = told.fits();
    return answer;
  }

  /// The batch of all stays; more accelerators are more data-parallel groups.
  Result<Scenario> at(const JobPlacement& placement) const {
    if (!placement.accelerator.empty()) return not_recorded("accelerator (name a cluster instead)");
    if (placement.compute != 1 || placement.copies != 1 || placement.communication != 1 ||
        placement.host != 1) {
      return not_recorded("factors");
    }
    Scenario scenario = scenario_;
    if (!placement.cluster.empty()) {
      FORETRACE_TRY(auto cluster, find_cluster(*catalogue_, placement.cluster));
      scenario.cluster = std::make_shared<const Cluster>(std::move(cluster));
    }
    ParallelPlan& plan = scenario.job.plan;
    if (placement.accelerators > 0) {
      const std::uint32_t group = scenario.job.ranks() / plan.data;
      if (placement.accelerators % group != 0) {
        return Error{ErrorCode::no_match,
                     fmt::format("placement: {} accelerators, expected a multiple of {} (tensor, "
                                 "context and pipeline groups)",
                                 placement.accelerators, group)};
      }
      plan.data = placement.accelerators / group;
    }
    auto complete = complete_scenario(std::move(scenario));
    if (!complete.ok()) {
      return Error{ErrorCode::no_match, "placement: " + complete.error().message};
    }
    return complete;
  }

  Scenario scenario_;
  CataloguePtr catalogue_;
  std::int64_t step_ns_ = 0;
};

}  // namespace

Result<std::shared_ptr<const Predictor::Source>> scenario_job(const std::string& path,
                                                              const PredictorOptions& options) {
  const CataloguePtr known =
      options.catalogue ? options.catalogue : std::make_shared<const Catalogue>();
  FORETRACE_TRY(auto scenario, read_scenario(*known, path));
  FORETRACE_TRY(check_ranks_alike(scenario).with_context(path));
  auto job = std::make_shared<ScenarioJob>(std::move(scenario), known);
  FORETRACE_TRY(job->start());
  return std::shared_ptr<const Predictor::Source>(std::move(job));
}

}  // namespace foretrace
