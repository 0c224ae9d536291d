#include "apps/session/predict.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "apps/session/answer_laws.h"
#include "apps/session/changed_job.h"
#include "apps/session/range.h"
#include "apps/session/what_if_stack.h"

namespace foretrace {
namespace {

/// What becomes of a what-if that finds nothing to change.
enum class Idle : std::uint8_t { refuse, skip };

/// What the what-ifs of a stack act on: the recording, or the job as some of them make it.
class Start {
 public:
  static Result<Start> of(const Recording& recording, std::span<const WhatIf> stack) {
    FORETRACE_TRY(auto changed, changed_job(recording, stack));
    return Start(recording, std::move(changed));
  }
  [[nodiscard]] WhatIfStack begin(Checks checks) const {
    return changed_ ? WhatIfStack(*changed_, checks) : WhatIfStack(recording_, checks);
  }
  /// Those that act on its graph.
  [[nodiscard]] std::vector<WhatIf> left_of(std::span<const WhatIf> stack) const {
    return changed_ ? changed_->others : std::vector<WhatIf>(stack.begin(), stack.end());
  }

 private:
  Start(const Recording& recording, std::optional<ChangedJob> changed)
      : recording_(recording), changed_(std::move(changed)) {}

  const Recording& recording_;
  std::optional<ChangedJob> changed_;
};

/// The stack applied in its order.
Result<WhatIfStack> applied_to(const Start& start, std::span<const WhatIf> stack, Idle idle,
                               const RunOptions& options = {}) {
  WhatIfStack applied = start.begin(options.checks);
  for (const WhatIf& what_if : in_order(stack)) {
    const Status pushed = applied.push(what_if, options.neutral);
    const bool skips =
        idle == Idle::skip && !pushed.ok() && pushed.error().code == ErrorCode::no_match;
    if (!pushed.ok() && !skips) return pushed.error();
  }
  return applied;
}

/// The point and both bounds; a bound never lies on the wrong side of the point.
Status add_range(const DurationBounds& bounds, const RunOptions& options, Prediction& prediction) {
  prediction.declared_low_ns = prediction.declared_high_ns = prediction.run.answer.step_ns;
  if (bounds.are_tight()) return ok_status();
  for (const TaskGraph& graph : {bounds.low(prediction.graph), bounds.high(prediction.graph)}) {
    FORETRACE_TRY(const Run run, simulate_run(graph, options));
    prediction.declared_low_ns = std::min(prediction.declared_low_ns, run.answer.step_ns);
    prediction.declared_high_ns = std::max(prediction.declared_high_ns, run.answer.step_ns);
  }
  return ok_status();
}

/// The bounds that are left once these durations are measured.
DurationBounds left_open(const WhatIfStack& applied, const Settled& settled) {
  const TaskGraph& graph = applied.graph();
  return applied.bounds().without(graph, [&graph, &settled](TaskId task) {
    const TaskKind kind = graph.kind(task);
    if (kind == TaskKind::collective || kind == TaskKind::transfer) return settled.transfers;
    if (!is_device(kind)) return false;
    return settled.kernels || (settled.unshaped_kernels && graph.work(task).shapes == NameId{0});
  });
}

/// The same, simulated, with the range that the edited durations declare.
Result<Prediction> apply_stack(const Start& start, std::span<const WhatIf> stack,
                               const PredictHow& how, Idle idle) {
  FORETRACE_TRY(const WhatIfStack applied, applied_to(start, stack, idle, how.run));
  FORETRACE_TRY(ChangedRun run, applied.simulate(how.run));
  Prediction prediction{std::move(run)};
  FORETRACE_TRY(add_range(how.settled.any() ? left_open(applied, how.settled) : applied.bounds(),
                          how.run, prediction));
  return prediction;
}

/// Every parameter with a declared range at this end of it.
std::vector<WhatIf> at_bound(std::span<const WhatIf> stack, Bound bound) {
  std::vector<WhatIf> moved(stack.begin(), stack.end());
  for (WhatIf& what_if : moved) {
    what_if.parameters = what_if.parameters.at_bound(bound);
  }
  return moved;
}

/// Widens the declared range by that of the parameters. At an end of which a what-if changes
/// nothing, it is as if it were not there.
Status widen(const Start& start, std::span<const WhatIf> stack, const PredictHow& how,
             Prediction& prediction) {
  for (const Bound bound : {Bound::optimistic, Bound::pessimistic}) {
    FORETRACE_TRY(const Prediction end,
                  apply_stack(start, at_bound(stack, bound), how, Idle::skip));
    prediction.declared_low_ns = std::min(prediction.declared_low_ns, end.declared_low_ns);
    prediction.declared_high_ns = std::max(prediction.declared_high_ns, end.declared_high_ns);
  }
  return ok_status();
}

/// The range of a prediction whose declared bounds are known.
Result<Prediction> with_range(const Recording& recording, Result<Prediction> prediction,
                              const RunOptions& options, const Replay* baseline) {
  FORETRACE_TRY(prediction);
  std::optional<Replay> own;
  if (baseline == nullptr) {
    FORETRACE_TRY(Replay replayed, replay(recording, options));
    baseline = &own.emplace(std::move(replayed));
  }
  FORETRACE_TRY(set_range(recording, *baseline, options, *prediction));
  expect_laws_of_answer(recording, *prediction);
  return prediction;
}

}  // namespace

Result<ChangedRun> changed_run(const Recording& recording, std::span<const WhatIf> stack,
                               const RunOptions& options) {
  FORETRACE_TRY(const Start start, Start::of(recording, stack));
  FORETRACE_TRY(const WhatIfStack applied,
                applied_to(start, start.left_of(stack), Idle::refuse, options));
  FORETRACE_TRY(ChangedRun run, applied.simulate(options));
  expect_laws(recording, run);
  return run;
}

Result<Prediction> predict(const Recording& recording, std::span<const WhatIf> stack,
                           const RunOptions& options, const Replay* baseline) {
  return predict(recording, stack, PredictHow{.run = options, .baseline = baseline});
}

Result<Prediction> predict(const Recording& recording, std::span<const WhatIf> stack,
                           const PredictHow& how) {
  FORETRACE_TRY(const Start start, Start::of(recording, stack));
  const std::vector<WhatIf> left = start.left_of(stack);
  Result<Prediction> prediction = apply_stack(start, left, how, Idle::refuse);
  const bool has_range = std::any_of(left.begin(), left.end(), [](const WhatIf& what_if) {
    return what_if.parameters.has_range();
  });
  if (prediction.ok() && has_range) {
    FORETRACE_TRY(widen(start, left, how, *prediction));
  }
  return with_range(recording, std::move(prediction), how.run, how.baseline);
}

Result<PredictionEnds> predict_ends(const Recording& recording, std::span<const WhatIf> stack) {
  FORETRACE_TRY(const Start start, Start::of(recording, stack));
  const std::vector<WhatIf> left = start.left_of(stack);
  const Result<WhatIfStack> fast = applied_to(start, at_bound(left, Bound::optimistic), Idle::skip);
  const Result<WhatIfStack> slow =
      applied_to(start, at_bound(left, Bound::pessimistic), Idle::skip);
  if (!fast.ok() || !slow.ok()) return fast.ok() ? slow.error() : fast.error();
  return PredictionEnds{fast->low(), slow->high()};
}

}  // namespace foretrace
