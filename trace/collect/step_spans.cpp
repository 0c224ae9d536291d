#include "trace/collect/step_spans.h"

#include <algorithm>

namespace foretrace::trace::collector {
namespace {

// A program that ends in its last step does not say where: it lasts until its device work is done
// and awaited.
std::int64_t last_work(const Recording& recording) {
  std::int64_t last = 0;
  const auto take = [&last](const auto& records) {
    for (const auto& record : records) {
      last = std::max(last, record.end);
    }
  };
  take(recording.kernels);
  take(recording.copies);
  take(recording.sets);
  take(recording.graphs);
  take(recording.synchronizations);
  return last;
}

}  // namespace

StepSpans step_spans_of(const Recording& recording) {
  StepSpans steps;
  for (const RangeRecord& range : recording.ranges) {
    switch (range.phase) {
      case RangePhase::step: steps.spans.push_back({&range, steps.over}); break;
      case RangePhase::steps_over: steps.over = std::min(steps.over, range.time); break;
      case RangePhase::switched_off: steps.off = std::min(steps.off, range.time); break;
      default: break;
    }
  }
  std::stable_sort(
      steps.spans.begin(), steps.spans.end(),
      [](const StepSpan& a, const StepSpan& b) { return a.mark->time < b.mark->time; });
  for (std::size_t i = 0; i < steps.spans.size(); ++i) {
    steps.spans[i].end = i + 1 < steps.spans.size() ? steps.spans[i + 1].mark->time
                                                    : std::min(steps.over, last_work(recording));
  }
  std::erase_if(steps.spans, [](const StepSpan& step) { return step.end <= step.mark->time; });
  return steps;
}

}  // namespace foretrace::trace::collector
