#include "models/whatifs/communication/transfers.h"

#include <fmt/format.h>

#include "sim/core/params.h"
#include "sim/edit/selection.h"

namespace foretrace::editing {

Result<std::vector<Transfer>> find_transfers(const TaskGraph& graph, std::string_view selection) {
  auto selected = select(graph, selection);
  if (!selected) return std::move(selected).error().with_context("parameter 'select'");
  std::vector<Transfer> transfers;
  for (const TaskId task : *selected) {
    if (graph.kind(task) != TaskKind::collective) continue;
    const TaskPart part = graph.work(task).part;
    if (part != TaskPart::begin) transfers.push_back({task, part == TaskPart::finish});
  }
  if (transfers.empty()) {
    return Error{ErrorCode::no_match,
                 fmt::format("no collective matches {}, expected a trace with NCCL or RCCL kernels",
                             in_quotes(selection))};
  }
  return transfers;
}

}  // namespace foretrace::editing
