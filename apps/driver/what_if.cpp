// What-ifs: applied in order, with the range they declare.
#include <algorithm>

#include "apps/driver/predict.h"
#include "apps/driver/what_if_stack.h"

namespace foretrace::driver {
namespace {

/// The stack applied in order, simulated, with the range that the edited durations declare.
Result<Prediction> apply_stack(const Recording& recording, std::span<const WhatIf> stack,
                               const RunOptions& options) {
  WhatIfStack applied(recording, options.checks);
  for (const WhatIf& what_if : stack) {
    if (const Status pushed = applied.push(what_if); !pushed.ok()) {
      return pushed.error();
    }
  }
  return applied.finish(options);
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

Result<Prediction> predict_if_possible(const Recording& recording, std::span<const WhatIf> stack,
                                       const RunOptions& options) {
  Result<Prediction> prediction = predict(recording, stack, options);
  return prediction.ok() || prediction.error().code != ErrorCode::no_match
             ? prediction
             : apply_stack(recording, stack, options);
}

}  // namespace foretrace::driver
