#include "apps/questions/memory/budget_timeline.h"

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace foretrace {
namespace {

ChromeCounter live_bytes(const MemoryUse& use) {
  ChromeCounter counter{.name = "allocated bytes", .rank = use.rank, .device = use.device};
  counter.samples.push_back({0, use.base_bytes});
  for (const BudgetPoint& point : use.points) {
    counter.samples.push_back({point.time_ns, point.live_bytes});
  }
  return counter;
}

/// "evict aten::conv2d in layer1.0": scratch space of a repeated operator comes and goes at once.
ChromeInstants moves(const TaskGraph& graph, const MemoryUse& use) {
  ChromeInstants moves{.title = "memory policy", .rank = use.rank, .device = use.device};
  for (const BudgetPoint& point : use.points) {
    const Tensor& tensor = graph.context().tensors[index(point.tensor)];
    const bool leaves = point.action == BudgetAction::evicted;
    if ((!leaves && point.action != BudgetAction::restored) ||
        tensor.category == TensorCategory::workspace) {
      continue;
    }
    std::string name(leaves ? "evict" : "bring back");
    const std::string_view maker = graph.names()[tensor.operator_name];
    name += fmt::format(" {}", maker.empty() ? to_string(tensor.category) : maker);
    const std::string_view layer = graph.names()[graph.context().layers[index(tensor.layer)].name];
    name += layer.empty() ? "" : fmt::format(" in {}", layer);
    moves.list.push_back({std::move(name), point.time_ns, tensor.bytes});
  }
  return moves;
}

}  // namespace

Result<BudgetTimeline> budget_timeline(const BudgetRun& run) {
  FORETRACE_TRY(ExecutedGraph executed, executed_graph(run.graph, run.execution, "recompute: "));
  BudgetTimeline timeline{std::move(executed), {}, {}};
  for (const MemoryUse& use : run.execution.memory) {
    timeline.counters.push_back(live_bytes(use));
    timeline.instants.push_back(moves(run.graph, use));
  }
  return timeline;
}

}  // namespace foretrace
