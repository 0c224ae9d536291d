// Other ids of the same tasks: for whoever puts the tasks of a graph into another order.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "sim/graph/task_graph.h"

namespace foretrace {

/// No point stays none.
void renumber(Point& point, const std::vector<TaskId>& new_id);
/// Everything in it that names a task; rows keep their order.
void renumber(GraphContext& context, const std::vector<TaskId>& new_id);

/// The table with these ids of its tasks; uses by tasks that have none go. Null stays null.
template <typename NewId>
void renumber_uses(std::shared_ptr<const ParameterTable>& parameters, const NewId& new_id) {
  if (parameters == nullptr || parameters->uses.empty()) return;
  ParameterTable table = *parameters;
  for (ParameterUse& use : table.uses) use.task = new_id(use);
  std::erase_if(table.uses, [](const ParameterUse& use) { return use.task == none<TaskId>; });
  parameters = std::make_shared<const ParameterTable>(std::move(table));
}

}  // namespace foretrace
