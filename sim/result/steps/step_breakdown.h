// The step that answers, if there is one, and what it spends its time on.
#pragma once

#include <optional>

#include "sim/graph/task_graph.h"
#include "sim/result/steps/steps.h"
#include "sim/result/summary.h"
#include "sim/result/timeline.h"

namespace foretrace {

/// As answer_of(); none: there is no such step.
[[nodiscard]] std::optional<StepAnswer> find_answer(const StepTimes& times,
                                                    const StepChoice& choice);

/// Of the step that `answer` is about; where that is the mean of two steps, so are the parts. They
/// add up to it.
[[nodiscard]] Breakdown step_breakdown(const TaskGraph& graph, const Timeline& timeline,
                                       const StepTimes& steps, const StepAnswer& answer);

}  // namespace foretrace
