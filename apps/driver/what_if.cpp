// What-ifs: applied in order, with the range they declare.
#include <algorithm>
#include <utility>
#include <vector>

#include "apps/driver/predict.h"
#include "apps/driver/what_if_stack.h"

namespace foretrace::driver {
namespace {

/// The stack applied in its order, simulated, with the range that the edited durations declare.
Result<Prediction> apply_stack(const Recording& recording, std::span<const WhatIf> stack,
                               const RunOptions& options) {
  WhatIfStack applied(recording);
  for (const WhatIf& what_if : in_order(stack)) {
    if (const Status pushed = applied.push(what_if); !pushed.ok()) {
      return pushed.error();
    }
  }
  return applied.finish(options);
}

/// Widens the declared range by that of the parameters.
Status widen(const Recording& recording, std::span<const WhatIf> stack, const RunOptions& options,
             Prediction& prediction) {
  for (const Bound bound : {Bound::optimistic, Bound::pessimistic}) {
    std::vector<WhatIf> moved(stack.begin(), stack.end());
    for (WhatIf& what_if : moved) {
      what_if.parameters = what_if.parameters.at_bound(bound);
    }
    const Result<Prediction> end = apply_stack(recording, moved, options);
    if (!end.ok()) {
      return end.error();
    }
    prediction.declared_low_ns = std::min(prediction.declared_low_ns, end->declared_low_ns);
    prediction.declared_high_ns = std::max(prediction.declared_high_ns, end->declared_high_ns);
  }
  return ok_status();
}

/// The range of a prediction whose declared bounds are known.
Result<Prediction> with_range(const Recording& recording, Result<Prediction> prediction,
                              const RunOptions& options, const Replay* baseline) {
  if (!prediction.ok()) {
    return prediction;
  }
  if (baseline != nullptr) {
    set_range(recording, *baseline, *prediction);
    return prediction;
  }
  const Result<Replay> replayed = replay(recording, options);
  if (!replayed.ok()) {
    return replayed.error();
  }
  set_range(recording, *replayed, *prediction);
  return prediction;
}

}  // namespace

Result<Prediction> predict(const Recording& recording, std::span<const WhatIf> stack,
                           const RunOptions& options, const Replay* baseline) {
  Result<Prediction> prediction = apply_stack(recording, stack, options);
  const bool has_range = std::any_of(stack.begin(), stack.end(), [](const WhatIf& what_if) {
    return what_if.parameters.has_range();
  });
  if (prediction.ok() && has_range) {
    if (const Status widened = widen(recording, stack, options, *prediction); !widened.ok()) {
      return widened.error();
    }
  }
  return with_range(recording, std::move(prediction), options, baseline);
}

void add_facts(const Recording& recording, const Run& baseline, Prediction& prediction) {
  prediction.throughput = throughput_of(recording, baseline, prediction);
  prediction.fit = device_fit(recording, baseline, prediction);
}

Result<Prediction> predict_if_possible(const Recording& recording, std::span<const WhatIf> stack,
                                       const RunOptions& options, const Replay* baseline) {
  Result<Prediction> prediction = predict(recording, stack, options, baseline);
  return prediction.ok() || prediction.error().code != ErrorCode::no_match
             ? prediction
             : with_range(recording, apply_stack(recording, stack, options), options, baseline);
}

}  // namespace foretrace::driver
