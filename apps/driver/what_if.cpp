// What-ifs: applied in order, with the range they declare; ranked.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "apps/driver/predict.h"

namespace foretrace::driver {
namespace {

/// The bounds of a stack of changes: factors of durations, multiplied where several edit one task.
class Bounds {
 public:
  void follow(const Committed& committed) {
    follow(committed.low, committed, low_);
    follow(committed.high, committed, high_);
  }
  [[nodiscard]] bool are_tight() const { return low_.empty() && high_.empty(); }
  [[nodiscard]] TaskGraph low(const TaskGraph& graph) const { return scaled(graph, low_); }
  [[nodiscard]] TaskGraph high(const TaskGraph& graph) const { return scaled(graph, high_); }

 private:
  static void follow(const std::vector<float>& added, const Committed& committed,
                     std::vector<float>& factors) {
    if (factors.empty() && added.empty()) {
      return;
    }
    std::vector<float> moved(committed.graph.size(), 1.0F);
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const TaskId to = committed.new_id.empty() ? make_id<TaskId>(i) : committed.new_id[i];
      if (to != none<TaskId>) {
        moved[index(to)] = factors[i];
      }
    }
    for (std::size_t i = 0; i < added.size(); ++i) {
      moved[i] *= added[i];
    }
    factors = std::move(moved);
  }

  static TaskGraph scaled(const TaskGraph& graph, const std::vector<float>& factors) {
    if (factors.empty()) {
      return graph;
    }
    Weights weights = graph.weights();
    auto durations = std::make_shared<std::vector<std::int64_t>>(*weights.duration_ns);
    for (std::size_t i = 0; i < durations->size(); ++i) {
      if (factors[i] != 1.0F) {
        (*durations)[i] =
            std::llround(static_cast<double>((*durations)[i]) * static_cast<double>(factors[i]));
      }
    }
    weights.duration_ns = std::move(durations);
    return graph.with_weights(std::move(weights));
  }

  std::vector<float> low_;
  std::vector<float> high_;
};

/// The point and both bounds; a bound never lies on the wrong side of the point.
Status add_range(const Bounds& bounds, const RunOptions& options, Prediction& prediction) {
  prediction.low_ns = prediction.high_ns = prediction.run.answer.step_ns;
  if (bounds.are_tight()) {
    return ok_status();
  }
  for (const TaskGraph& graph : {bounds.low(prediction.graph), bounds.high(prediction.graph)}) {
    const Result<Run> run = simulate_run(graph, options);
    if (!run.ok()) {
      return run.error();
    }
    prediction.low_ns = std::min(prediction.low_ns, run->answer.step_ns);
    prediction.high_ns = std::max(prediction.high_ns, run->answer.step_ns);
  }
  return ok_status();
}

bool needs_parameters(const OptimizationInfo& info) {
  return std::any_of(info.params.begin(), info.params.end(),
                     [](const ParamInfo& param) { return param.default_text.empty(); });
}

std::string reason_of(const Error& error, std::string_view name) {
  const std::string prefix = fmt::format("{}: ", name);
  return error.message.rfind(prefix, 0) == 0 ? error.message.substr(prefix.size()) : error.message;
}

/// The stack applied in order, simulated, with the range that the edited durations declare.
Result<Prediction> apply_stack(const Recording& recording, std::span<const WhatIf> stack,
                               const RunOptions& options) {
  Prediction prediction;
  prediction.graph = recording.graph();
  Bounds bounds;
  std::optional<Accelerator> accelerator = recording.accelerator;
  for (const WhatIf& what_if : stack) {
    const OptimizationInfo& info = *what_if.optimization;
    const Scenario scenario{prediction.graph, accelerator ? &*accelerator : nullptr};
    Result<Change> change = info.apply(scenario, what_if.parameters);
    if (!change.ok()) {
      return Error{change.error().code,
                   fmt::format("{}: {}", info.name, reason_of(change.error(), info.name))};
    }
    Result<Committed> committed = commit(prediction.graph, *change);
    if (!committed.ok()) {
      return Error(committed.error()).with_context(info.name);
    }
    bounds.follow(*committed);
    if (info.name == accelerator_swap_name) {
      // What follows in the stack runs on the new device.
      Result<Accelerator> swapped = find_accelerator(what_if.parameters.text("to"));
      accelerator = swapped.ok() ? std::optional(*std::move(swapped)) : std::nullopt;
    }
    prediction.graph = std::move(committed->graph);
    prediction.applied.push_back(
        {&info, what_if.parameters.texts(), change->tasks_changed(), std::move(change->notes)});
  }
  Result<Run> run = simulate_run(prediction.graph, options);
  if (!run.ok()) {
    return run.error();
  }
  prediction.run = *std::move(run);
  if (const Status range = add_range(bounds, options, prediction); !range.ok()) {
    return range.error();
  }
  return prediction;
}

}  // namespace

Result<Prediction> predict(const Recording& recording, std::span<const WhatIf> stack,
                           const RunOptions& options) {
  Result<Prediction> prediction = apply_stack(recording, stack, options);
  const bool has_range = std::any_of(stack.begin(), stack.end(), [](const WhatIf& what_if) {
    return what_if.parameters.has_range();
  });
  if (!prediction.ok() || !has_range) {
    return prediction;
  }
  for (const Bound bound : {Bound::optimistic, Bound::pessimistic}) {
    std::vector<WhatIf> moved(stack.begin(), stack.end());
    for (WhatIf& what_if : moved) {
      what_if.parameters = what_if.parameters.at_bound(bound);
    }
    const Result<Prediction> end = apply_stack(recording, moved, options);
    if (!end.ok()) {
      return end.error();
    }
    prediction->low_ns = std::min(prediction->low_ns, end->low_ns);
    prediction->high_ns = std::max(prediction->high_ns, end->high_ns);
  }
  return prediction;
}

Result<Ranking> rank_all(const Recording& recording, const Replay& baseline,
                         const RunOptions& options) {
  Ranking ranking;
  const auto before = static_cast<double>(baseline.run.answer.step_ns);
  for (const OptimizationInfo* const info : optimizations::all()) {
    if (needs_parameters(*info)) {
      ranking.left_out.push_back({info->name, Unranked::Cause::needs_parameter,
                                  "needs a parameter, see foretrace explain"});
      continue;
    }
    const Result<WhatIf> what_if = check_what_if({std::string(info->name), {}});
    if (!what_if.ok()) {
      return what_if.error();
    }
    const Result<Prediction> prediction = predict(recording, {&*what_if, 1}, options);
    if (!prediction.ok()) {
      const Error& error = prediction.error();
      ranking.left_out.push_back({info->name,
                                  error.code == ErrorCode::no_match ? Unranked::Cause::finds_nothing
                                                                    : Unranked::Cause::error,
                                  reason_of(error, info->name)});
      continue;
    }
    const std::int64_t step = prediction->run.answer.step_ns;
    const double gain = 1 - static_cast<double>(step) / std::max(1.0, before);
    ranking.rows.push_back({info, step, prediction->low_ns, prediction->high_ns,
                            before / std::max(1.0, static_cast<double>(step)),
                            baseline.scatter > 0 && std::abs(gain) <= baseline.scatter});
  }
  std::stable_sort(ranking.rows.begin(), ranking.rows.end(),
                   [](const Ranked& a, const Ranked& b) { return a.step_ns < b.step_ns; });
  return ranking;
}

}  // namespace foretrace::driver
