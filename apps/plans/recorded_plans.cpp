#include "apps/plans/recorded_plans.h"

#include <algorithm>

#include <fmt/format.h>

#include "apps/session/scenario/trace_scenario.h"

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
    for (const Communicator& group : session_.graph().context().communicators) {
      answer_.recorded_devices = std::max(answer_.recorded_devices, group.size);
    }
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
                       return a.fits != b.fits ? a.fits : a.speedup > b.speedup;
                     });
    const std::size_t looked_at = std::min(question_.keep, answer_.plans.size());
    for (std::size_t i = 0; i < looked_at; ++i) look_closely(answer_.plans[i]);
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

  [[nodiscard]] Result<Answer> spread(const std::string& settings) const {
    FORETRACE_TRY(const auto stack,
                  spread_stack(session_.recording(), settings, answer_.cluster, question_.cluster));
    return session_.ask(stack);
  }

  void try_plan(RecordedPlan plan) {
    plan.settings = settings_of(plan);
    const auto answer = spread(plan.settings);
    if (!answer.ok()) {
      answer_.refused.push_back({plan.settings, answer.error().message});
      return;
    }
    plan.step_ns = answer->step_ns();
    plan.low_ns = answer->low_ns();
    plan.high_ns = answer->high_ns();
    plan.samples = answer->samples();
    plan.speedup = answer->speedup();
    if (answer->throughput() && answer->throughput()->predicted) {
      // What is recorded is one of the devices.
      plan.samples_per_s = *answer->throughput()->predicted * answer_.recorded_devices;
    }
    if (answer->fit()) {
      plan.memory_bytes = answer->fit()->need.reserved_bytes();
      plan.fits = answer->fit()->fits;
    }
    if (!plan.fits) ++answer_.too_large;
    answer_.plans.push_back(std::move(plan));
  }

  /// Where the time goes costs more than the step.
  void look_closely(RecordedPlan& plan) const {
    const auto answer = spread(plan.settings);
    if (answer.ok()) plan.exposed_ns = answer->analysis().breakdown.communication_exposed_ns;
  }

  const Session& session_;
  const RecordedQuestion& question_;
  RecordedPlans answer_;
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
    return Error{
        ErrorCode::bad_usage,
        fmt::format("number of GPUs: got {}, expected at least 2 to spread a recorded run over",
                    question.gpus)};
  }
  return Planner(session, question).run(std::move(cluster));
}

}  // namespace foretrace
