// Points that are training jobs without a trace: the analytic evaluation of plans.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/plans/plan_estimates.h"
#include "apps/session/load_run.h"
#include "apps/sweep/points/evaluate.h"
#include "apps/sweep/points/scenario_points.h"
#include "models/jobs/figures/device_memory.h"
#include "models/jobs/figures/scenario_laws.h"
#include "models/jobs/program/estimate.h"
#include "models/jobs/program/job_figures.h"
#include "models/jobs/program/ranged_step.h"
#include "sim/core/broken_law.h"

namespace foretrace::sweeping {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

class ScenarioEvaluator final : public PointEvaluator {
 public:
  ScenarioEvaluator(const Sweep& sweep, CataloguePtr catalogue)
      : sweep_(sweep), catalogue_(std::move(catalogue)), points_(sweep, *catalogue_) {
    for (const MetricInfo& metric : sweep.metrics) {
      has_range_ = has_range_ || metric.name == "low_ns" || metric.name == "high_ns";
    }
  }

  void evaluate(std::span<PointResult> points) override {
    for (PointResult& point : points) {
      if (Status status = evaluate_one(point); !status.ok()) {
        point.metrics.clear();
        point.reason = status.error().message;
      }
    }
  }

  /// An answer that cannot be leaves a point without figures.
  Status evaluate_one(PointResult& point) try {
    FORETRACE_TRY(const auto scenario, points_.at(point.where));
    if (!scenario->what_ifs.empty()) return evaluate_changed(*scenario, point);
    const Job& job = scenario->job;
    FORETRACE_TRY(const auto answer, estimates_.of(job));
    const ModelAmounts& amounts = points_.amounts(job);
    expect_laws(job, answer, amounts);
    RangedStep range;
    if (has_range_) {
      FORETRACE_TRY(const auto program, build_program(job));
      FORETRACE_TRY(range, ranged_step(job, program, amounts));
    }
    for (const MetricInfo& metric : sweep_.metrics) {
      point.metrics.push_back(metric_of(metric.name, job, answer, range));
    }
    return ok_status();
  } catch (const BrokenLaw& broken) {
    return Error{ErrorCode::unsupported, broken.what()};
  }

 private:
  /// With what-ifs: its operators are simulated.
  Status evaluate_changed(const Scenario& scenario, PointResult& point) {
    FORETRACE_TRY(const auto answer, answer_what_ifs(scenario, catalogue_));
    for (const MetricInfo& metric : sweep_.metrics) {
      point.metrics.push_back(changed_metric(metric.name, answer, scenario.job));
    }
    return ok_status();
  }

  double changed_metric(std::string_view name, const Answer& answer, const Job& job) {
    const auto need = [&] { return answer.need() ? answer.need()->live_bytes : 0; };
    if (name == "step_ns") return static_cast<double>(answer.step_ns());
    if (name == "low_ns") return static_cast<double>(answer.low_ns());
    if (name == "high_ns") return static_cast<double>(answer.high_ns());
    if (name == "memory_bytes") return need() > 0 ? static_cast<double>(need()) : unknown;
    if (name == "fits") return answer.fits() ? 1 : 0;
    if (name == "ranks") return job.ranks();
    Job whole = job;  // what-ifs may change how much a step does
    whole.global_batch *= answer.samples();
    const JobFigures figures = job_figures(whole, answer.step_ns(), points_.amounts(whole));
    if (name == "tokens_per_s") return figures.tokens_per_s;
    if (name == "cost_per_million_tokens" && job.cluster->price_per_hour > 0) {
      return figures.cost_per_million_tokens;
    }
    return unknown;  // passes have these, operators do not
  }

  double metric_of(std::string_view name, const Job& job, const Estimate& answer,
                   const RangedStep& range) {
    const double bytes = fullest_bytes(answer.memory);
    if (name == "step_ns") return static_cast<double>(answer.step_ns);
    // A recording without weights does not say.
    if (name == "memory_bytes") return bytes > 0 ? std::round(bytes) : unknown;
    if (name == "fits") return fits_device(job, answer.memory) ? 1 : 0;
    if (name == "ram_bytes" || name == "flash_bytes") {
      const auto memories = device_memories(job, answer.memory[fullest_stage(answer.memory)]);
      if (name == "ram_bytes") return std::round(memories.front().need);
      return memories.size() > 1 ? std::round(memories[1].need) : unknown;
    }
    const JobFigures figures = job_figures(job, answer.step_ns, points_.amounts(job));
    if (name == "tokens_per_s") return figures.tokens_per_s;
    // A recording has no operations to count.
    if (name == "mfu") return figures.flops_utilization.value_or(unknown);
    if (name == "low_ns") return static_cast<double>(range.low_ns);
    if (name == "high_ns") return static_cast<double>(range.high_ns);
    if (name == "bubble_ns") return std::round(answer.breakdown.bubble);
    if (name == "exposed_ns") {
      double exposed = 0;
      for (const double part : answer.breakdown.exposed) exposed += part;
      return std::round(exposed);
    }
    if (name == "ranks") return job.ranks();
    if (name == "cost_per_million_tokens" && job.cluster->price_per_hour > 0) {
      return figures.cost_per_million_tokens;
    }
    return unknown;
  }

  const Sweep& sweep_;
  CataloguePtr catalogue_;
  ScenarioPoints points_;
  PlanEstimates estimates_;
  bool has_range_ = false;
};

class ScenarioEvaluation final : public Evaluation {
 public:
  ScenarioEvaluation(const Sweep& sweep, CataloguePtr catalogue)
      : sweep_(sweep), catalogue_(std::move(catalogue)) {}

  /// Every value of every axis can be read: what a plan makes of it is another matter.
  Status check() {
    ScenarioParts parts;
    std::vector<std::string> files;
    const Status tried = try_values(sweep_, [&](const ConfigValue& document) -> Status {
      FORETRACE_TRY(auto read, read_point(sweep_, *catalogue_, document, parts));
      files.insert(files.end(), read.files.begin(), read.files.end());
      return ok_status();
    });
    FORETRACE_TRY(tried);
    return note_inputs(std::move(files), *catalogue_);
  }

  [[nodiscard]] std::unique_ptr<PointEvaluator> evaluator() const override {
    return std::make_unique<ScenarioEvaluator>(sweep_, catalogue_);
  }

 private:
  const Sweep& sweep_;
  CataloguePtr catalogue_;
};

}  // namespace

Result<std::unique_ptr<const Evaluation>> prepare_scenarios(const Sweep& sweep,
                                                            CataloguePtr catalogue) {
  auto evaluation = std::make_unique<ScenarioEvaluation>(sweep, std::move(catalogue));
  FORETRACE_TRY(evaluation->check());
  return std::unique_ptr<const Evaluation>(std::move(evaluation));
}

}  // namespace foretrace::sweeping
