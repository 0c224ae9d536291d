#include "sim/edit/carried_links.h"

namespace foretrace {

void carry_links(Editor& editor, const WaitIndex& waits, TaskId task, TaskId copy,
                 const CarryRules& rules) {
  const TaskGraph& graph = editor.graph();
  const auto counted_from = [&rules](Point point) {
    return point == no_point || rules.moves(point) ? point : no_point;
  };
  for (const Link& link : sources(graph, task)) {
    if (link.on_lane() || link.symbolic || !rules.carries(link.kind)) continue;
    Dependency carried = link.dependency();
    carried.task = copy;
    if (carried.source != no_point && !rules.moves(carried.source)) continue;
    carried.late_after = counted_from(carried.late_after);
    editor.depend(carried);
  }
  for (const std::uint32_t row : waits.of(task)) {
    Wait carried = graph.context().waits[row];
    carried.task = copy;
    if (!rules.adapts(carried)) continue;
    carried.late_after = counted_from(carried.late_after);
    editor.wait(carried);
  }
}

}  // namespace foretrace
