#include "tests/apps/explorer/hand_made.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "sim/graph/links.h"

namespace foretrace::test {
namespace {

/// A recording's parts, to be changed one by one.
struct Parts {
  explicit Parts(const TaskGraph& graph)
      : recorded(graph), columns(*graph.shared_columns()), context(graph.context()) {}

  [[nodiscard]] TaskGraph whole() const {
    return {recorded.shared_topology(), std::make_shared<const TaskColumns>(columns),
            std::make_shared<const GraphContext>(context), recorded.weights()};
  }

  const TaskGraph& recorded;
  TaskColumns columns;
  GraphContext context;
};

/// Every third kernel is a copy from now on.
TaskGraph other_work(const TaskGraph& recorded) {
  Parts parts(recorded);
  std::size_t kernels = 0;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    if (recorded.kind(make_id<TaskId>(i)) != TaskKind::kernel || kernels++ % 3 != 0) continue;
    Work copy = recorded.work(make_id<TaskId>(i));
    copy.kind = TaskKind::copy;
    parts.columns.work[i] = make_id<WorkId>(parts.context.works.size());
    parts.columns.kind[i] = copy.kind;
    parts.context.works.push_back(copy);
  }
  return parts.whole();
}

/// The tasks keep their works, every second of which is a copy of what it was.
TaskGraph work_in_place(const TaskGraph& recorded) {
  Parts parts(recorded);
  std::vector<Work>& works = parts.context.works;
  for (std::size_t w = 0; w < works.size(); w += 2) {
    if (works[w].kind == TaskKind::kernel) works[w].kind = TaskKind::copy;
  }
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    parts.columns.kind[i] = works[index(parts.columns.work[i])].kind;
  }
  return parts.whole();
}

/// Of three tensors one is gone, one twice as large, and one as it was.
TaskGraph resized(const TaskGraph& recorded) {
  Parts parts(recorded);
  for (std::size_t k = 0; k < parts.context.tensors.size(); ++k) {
    if (k % 3 < 2) parts.context.tensors[k].bytes *= k % 3 == 0 ? 0 : 2;
  }
  return parts.whole();
}

/// Every second tensor is freed by a later task of its thread, and every fifth one comes twice.
TaskGraph living_longer(const TaskGraph& recorded, std::size_t later) {
  Parts parts(recorded);
  const std::size_t known = parts.context.tensors.size();
  for (std::size_t k = 0; k < known; ++k) {
    Tensor tensor = parts.context.tensors[k];
    for (std::size_t i = 0; i < later && tensor.freed_in != none<TaskId>; ++i) {
      const TaskId next = next_on_lane(recorded, tensor.freed_in);
      if (next == none<TaskId>) break;
      tensor.freed_in = next;
    }
    if (k % 2 == 0) parts.context.tensors[k] = tensor;
    if (k % 5 == 0) parts.context.tensors.push_back(tensor);
  }
  return parts.whole();
}

}  // namespace

std::vector<std::pair<std::string, TaskGraph>> hand_made(const TaskGraph& recorded) {
  std::vector<std::pair<std::string, TaskGraph>> graphs = {
      {"other work", other_work(recorded)}, {"work in place", work_in_place(recorded)}};
  if (recorded.context().tensors.empty()) return graphs;
  graphs.emplace_back("resized", resized(recorded));
  graphs.emplace_back("longer", living_longer(recorded, 1));
  graphs.emplace_back("much longer", living_longer(recorded, 40));
  return graphs;
}

}  // namespace foretrace::test
