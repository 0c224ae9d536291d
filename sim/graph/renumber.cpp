#include "sim/graph/renumber.h"

namespace foretrace {

void renumber(Point& point, const std::vector<TaskId>& new_id) {
  if (point == no_point) return;
  const TaskId task = new_id[index(task_of(point))];
  point = is_end(point) ? end_of(task) : start_of(task);
}

void renumber(GraphContext& context, const std::vector<TaskId>& new_id) {
  const auto renumber_task = [&new_id](TaskId& task) {
    if (index(task) < new_id.size()) task = new_id[index(task)];
  };
  for (Wait& wait : context.waits) {
    renumber_task(wait.task);
    renumber_task(wait.at);
    renumber(wait.late_after, new_id);
  }
  for (Step& step : context.steps) {
    renumber_task(step.begin);
    renumber_task(step.end);
  }
  for (SegmentPart& part : context.segment_parts) renumber_task(part.task);
  for (Tensor& tensor : context.tensors) {
    renumber_task(tensor.allocated_in);
    renumber_task(tensor.freed_in);
  }
  for (Demand& demand : context.demands) renumber_task(demand.task);
  for (TaskPriority& priority : context.priorities) renumber_task(priority.task);
  for (Stall& stall : context.stalls) renumber_task(stall.task);
  renumber_uses(context.parameters,
                [&](const ParameterUse& use) { return new_id[index(use.task)]; });
}

}  // namespace foretrace
