// Steps for a graph from text: with_steps(graph, {{"b1", "e1", "k1 k2"}}).
#pragma once

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/graph/task_graph.h"
#include "tests/sim/graph/text_graph.h"

namespace foretrace::test {

/// The tasks that begin and end a step, and the device work that was launched in it.
struct TextStep {
  std::string begin;
  std::string end;
  std::string device_tasks;
  std::int32_t rank = 0;
};

/// The graph with these steps, numbered from 1 on; sorted by rank and begin as the caller gives
/// them.
inline TaskGraph with_steps(const TaskGraph& graph, const std::vector<TextStep>& steps) {
  auto context = std::make_shared<GraphContext>(graph.context());
  auto columns = std::make_shared<TaskColumns>(graph.columns());
  columns->step.assign(graph.size(), -1);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    context->steps.push_back({.rank = steps[i].rank,
                              .number = static_cast<std::int64_t>(i + 1),
                              .begin = task(graph, steps[i].begin),
                              .end = task(graph, steps[i].end)});
    std::istringstream names(steps[i].device_tasks);
    for (std::string name; names >> name;) {
      columns->step[index(task(graph, name))] = static_cast<std::int32_t>(i);
    }
  }
  return {graph.shared_topology(), std::move(columns), std::move(context), graph.weights()};
}

}  // namespace foretrace::test
