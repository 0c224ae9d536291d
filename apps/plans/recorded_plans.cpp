#include "apps/plans/recorded_plans.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "apps/session/scenario/trace_scenario.h"
#include "apps/session/spread.h"

namespace foretrace {
namespace {

/// Pipelines longer than this are made of machines, not of a recorded step.
constexpr std::uint32_t most_stages = 16;

std::vector<std::uint32_t> divisors(std::uint32_t most, std::uint32_t of) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = 1; size <= most; ++size) {
    if (of % size == 0) sizes.push_back(size);
  }
  return sizes;
}

class Planner {
 public:
  Planner(const Session& session, const RecordedQuestion& question)
      : session_(session), question_(question) {}

  Result<RecordedPlans> run(Cluster cluster) {
    answer_.gpus = question_.gpus;
    answer_.recorded_step_ns = session_.step_ns();
    answer_.cluster = std::move(cluster);
    answer_.recorded_devices = devices_of(session_);
    FORETRACE_TRY(const auto moved,
                  spread_stack(session_.recording(), {}, answer_.cluster, question_.cluster));
    now_ = work_times(session_, moved);
    const std::uint32_t node = answer_.cluster.node_accelerators;
    for (const std::uint32_t tensor : divisors(std::min(node, question_.gpus), question_.gpus)) {
      const std::uint32_t rest = question_.gpus / tensor;
      for (const std::uint32_t pipeline : divisors(std::min(most_stages, rest), rest)) {
        RecordedPlan grid;
        grid.data = rest / pipeline;
        grid.tensor = tensor;
        grid.pipeline = pipeline;
        try_grid(grid);
      }
    }
    std::stable_sort(answer_.plans.begin(), answer_.plans.end(),
                     [](const RecordedPlan& a, const RecordedPlan& b) {
                       if (a.fits != b.fits) return a.fits;
                       if (a.is_equal_work() != b.is_equal_work()) return a.is_equal_work();
                       return a.speedup > b.speedup;
                     });
    std::size_t equal = 0;
    std::size_t larger = 0;
    for (RecordedPlan& plan : answer_.plans) {
      if ((plan.is_equal_work() ? equal : larger)++ < question_.keep) look_closely(plan);
    }
    return std::move(answer_);
  }

 private:
  void try_grid(const RecordedPlan& grid) {
    try_plan(grid);
    if (grid.data == 1) return;
    for (const std::uint32_t zero : {1U, 3U}) {
      if (zero == 3 && grid.pipeline > 1) continue;
      RecordedPlan plan = grid;
      plan.zero = zero;
      try_plan(plan);
    }
  }

  [[nodiscard]] std::string settings_of(const RecordedPlan& plan) const {
    std::string text;
    const auto add = [&text](std::string_view key, std::size_t value, std::size_t standard) {
      if (value != standard) text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
    };
    add("data", plan.data, 1);
    add("tensor", plan.tensor, 1);
    add("pipeline", plan.pipeline, 1);
    add("zero", plan.zero, 0);
    if (plan.zero == 3 || plan.pipeline > 1) add("layers", question_.layers, 0);
    return text;
  }

  /// On the accelerator of the cluster.
  [[nodiscard]] Result<Answer> ask(const std::string& settings,
                                   std::span<const WhatIf> more) const {
    FORETRACE_TRY(auto stack,
                  spread_stack(session_.recording(), settings, answer_.cluster, question_.cluster));
    stack.insert(stack.end(), more.begin(), more.end());
    return session_.ask(stack);
  }
  [[nodiscard]] Result<Answer> ask(const RecordedPlan& plan) const {
    if (plan.batch == 1) return ask(plan.settings, {});
    FORETRACE_TRY(const WhatIf batch, check_what_if(resize_batch(plan.batch)));
    return ask(plan.settings, std::array{batch});
  }

  /// With the recorded batch in every pass and, where a step then does more samples than the
  /// recorded one, with as many.
  void try_plan(RecordedPlan plan) {
    plan.settings = settings_of(plan);
    const double samples = try_batch(plan);
    if (samples <= 1) return;
    plan.batch = 1 / samples;
    try_batch(std::move(plan));
  }

  /// Returns the samples of its step / of a recorded one.
  double try_batch(RecordedPlan plan) {
    const auto answer = ask(plan);
    if (!answer.ok()) {
      answer_.refused.push_back({plan.settings, plan.batch, answer.error().message});
      return 1;
    }
    plan.step_ns = answer->step_ns();
    plan.low_ns = answer->low_ns();
    plan.high_ns = answer->high_ns();
    plan.samples = answer->samples();
    plan.speedup = answer->speedup();
    plan.efficiency = spread_efficiency(now_, answer_.recorded_devices, *answer, answer_.gpus);
    plan.samples_per_s = samples_per_s_of_all(*answer);
    if (answer->target()) plan.memory_bytes = answer->need()->reserved_bytes();
    plan.fits = answer->fits();
    if (!plan.fits) ++answer_.too_large;
    answer_.plans.push_back(std::move(plan));
    return answer_.plans.back().samples;
  }

  /// Where the time goes costs more than the step.
  void look_closely(RecordedPlan& plan) const {
    const auto answer = ask(plan);
    if (answer.ok()) plan.exposed_ns = answer->analysis().breakdown.communication_exposed_ns;
  }

  const Session& session_;
  const RecordedQuestion& question_;
  RecordedPlans answer_;
  WorkTimes now_;  ///< on the accelerator of the cluster
};

}  // namespace

Result<RecordedPlans> plan_recording(const Session& session, const RecordedQuestion& question) {
  FORETRACE_TRY(auto cluster, find_cluster(session.recording().catalogue(), question.cluster));
  if (question.gpus > cluster.accelerators()) {
    return Error{
        ErrorCode::bad_usage,
        fmt::format("number of GPUs: got {}, expected at most the {} accelerators of the cluster",
                    question.gpus, cluster.accelerators())};
  }
  if (question.gpus < 2) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("number of GPUs: got {}, expected at least 2 for a recorded run",
                             question.gpus)};
  }
  return Planner(session, question).run(std::move(cluster));
}

}  // namespace foretrace
