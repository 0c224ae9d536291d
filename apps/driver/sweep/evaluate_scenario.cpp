// Points that are training jobs without a trace: the analytic evaluation of plans.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "apps/driver/plan/job_figures.h"
#include "apps/driver/plan/scenario.h"
#include "apps/driver/sweep/document.h"
#include "apps/driver/sweep/evaluate.h"
#include "models/catalogue/config_files.h"
#include "models/program/estimate.h"

namespace foretrace::sweeping {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Files that a scenario names stand beside the sweep file.
void resolve_files(const std::string& folder, ConfigValue& document) {
  const auto resolve = [&](ConfigValue& object, std::string_view key) {
    for (std::size_t i = 0; i < object.keys.size(); ++i) {
      ConfigValue& value = object.items[i];
      if (object.keys[i] != key || value.kind != ConfigValue::Kind::text) continue;
      if (value.text.ends_with(".json")) value.text = beside(folder, value.text);
    }
  };
  resolve(document, "cluster");
  resolve(document, "framework");
  for (std::size_t i = 0; i < document.keys.size(); ++i) {
    if (document.keys[i] == "workload") resolve(document.items[i], "model");
  }
}

class ScenarioEvaluator final : public PointEvaluator {
 public:
  ScenarioEvaluator(const Sweep& sweep, const Catalogue& catalogue)
      : sweep_(sweep), catalogue_(catalogue) {}

  void evaluate(std::span<PointResult> points) override {
    for (PointResult& point : points) {
      if (Status status = evaluate_one(point); !status.ok()) {
        point.metrics.clear();
        point.reason = status.error().message;
      }
    }
  }

  Status evaluate_one(PointResult& point) {
    ConfigValue document = sweep_.document_at(point.where);
    resolve_files(sweep_.folder, document);
    auto read = driver::scenario_of(catalogue_, document, "scenario", parts_);
    if (!read.ok()) return std::move(read).error();
    known_model_ = read->model.get();
    auto scenario = driver::complete_scenario(std::move(*read));
    if (!scenario.ok()) return std::move(scenario).error();
    const JobBlocks blocks = build_blocks(scenario->job);
    const Estimate answer = estimate(scenario->job, blocks);
    for (const MetricInfo& metric : sweep_.metrics) {
      point.metrics.push_back(metric_of(metric.name, *scenario, blocks, answer));
    }
    return ok_status();
  }

 private:
  double metric_of(std::string_view name, const driver::Scenario& scenario, const JobBlocks& blocks,
                   const Estimate& answer) {
    const Job& job = scenario.job;
    const double bytes = driver::fullest_bytes(answer.memory);
    if (name == "step_ns") return static_cast<double>(answer.step_ns);
    if (name == "memory_bytes") return std::round(bytes);
    if (name == "fits") return bytes <= driver::device_bytes(job) ? 1 : 0;
    const driver::JobFigures figures = driver::job_figures(job, answer.step_ns, flops_of(job));
    if (name == "tokens_per_s") return figures.tokens_per_s;
    if (name == "mfu") return driver::peak_flops(job) > 0 ? figures.flops_utilization : unknown;
    if (name == "low_ns") return static_cast<double>(ranged_step(job, blocks).low_ns);
    if (name == "high_ns") return static_cast<double>(ranged_step(job, blocks).high_ns);
    if (name == "bubble_ns") return std::round(answer.breakdown.bubble);
    if (name == "exposed_ns") {
      double exposed = 0;
      for (const double part : answer.breakdown.exposed) exposed += part;
      return std::round(exposed);
    }
    if (name == "ranks") return job.plan.ranks();
    if (name == "cost_per_million_tokens" && job.cluster->price_per_hour > 0) {
      return figures.cost_per_million_tokens;
    }
    return unknown;
  }

  /// FLOPs follow from model, framework and length; `known_model_` is the model as it was read.
  double flops_of(const Job& job) {
    const FlopsKey key{known_model_, job.framework, job.model->vocabulary, job.length,
                       job.trains()};
    const auto [found, is_new] = flops_.try_emplace(key, 0.0);
    if (is_new) found->second = driver::model_flops(job) / job.global_batch;
    return found->second * job.global_batch;
  }

  using FlopsKey = std::tuple<const ModelSpec*, const Framework*, double, double, bool>;

  const Sweep& sweep_;
  const Catalogue& catalogue_;
  driver::ScenarioParts parts_;
  const ModelSpec* known_model_ = nullptr;
  std::map<FlopsKey, double> flops_;
};

class ScenarioEvaluation final : public Evaluation {
 public:
  ScenarioEvaluation(const Sweep& sweep, CataloguePtr catalogue)
      : sweep_(sweep), catalogue_(std::move(catalogue)) {}

  /// Every value of every axis can be read: what a plan makes of it is another matter.
  Status check() {
    driver::ScenarioParts parts;
    std::vector<std::string> files;
    const Status tried = try_values(sweep_, [&](const ConfigValue& document) -> Status {
      ConfigValue resolved = document;
      resolve_files(sweep_.folder, resolved);
      auto read = driver::scenario_of(*catalogue_, resolved, "scenario", parts);
      if (!read.ok()) return std::move(read).error();
      files.insert(files.end(), read->files.begin(), read->files.end());
      return ok_status();
    });
    if (!tried.ok()) return tried.error();
    return note_inputs(std::move(files), *catalogue_);
  }

  std::unique_ptr<PointEvaluator> evaluator() const override {
    return std::make_unique<ScenarioEvaluator>(sweep_, *catalogue_);
  }

 private:
  const Sweep& sweep_;
  CataloguePtr catalogue_;
};

}  // namespace

Result<std::unique_ptr<const Evaluation>> prepare_scenarios(const Sweep& sweep,
                                                            CataloguePtr catalogue) {
  auto evaluation = std::make_unique<ScenarioEvaluation>(sweep, std::move(catalogue));
  if (Status status = evaluation->check(); !status.ok()) return std::move(status).error();
  return std::unique_ptr<const Evaluation>(std::move(evaluation));
}

}  // namespace foretrace::sweeping
