// Program order made topological where an explicit dependency points forward.
#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "sim/graph/commit/draft.h"

namespace foretrace::committing {

namespace {

/// Predecessors of every task besides its lane, as CSR.
struct Predecessors {
  std::vector<std::uint32_t> offsets;
  std::vector<TaskId> tasks;
  std::vector<TaskId> on_lane;  ///< previous task of the lane
};

/// Calls visit(task, predecessor) for every explicit ordering: sources and late_after points.
template <typename Visit>
void for_each_order(const Draft& draft, const Visit& visit) {
  for_each_dependency(draft, [&](TaskId task, Point source, Point late_after, DependencyKind) {
    visit(task, task_of(source));
    if (late_after != no_point) visit(task, task_of(late_after));
  });
  for (const Wait& w : draft.context.waits) {
    if (w.late_after != no_point) visit(w.task, task_of(w.late_after));
  }
}

bool points_backward(const Draft& draft) {
  bool backward = true;
  for_each_order(draft, [&backward](TaskId task, TaskId predecessor) {
    backward = backward && predecessor < task;
  });
  return backward;
}

Predecessors collect(const Draft& draft) {
  Predecessors result;
  result.offsets.assign(draft.size() + 1, 0);
  for_each_order(draft, [&](TaskId task, TaskId) { ++result.offsets[index(task) + 1]; });
  std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
  result.tasks.resize(result.offsets.back());
  std::vector<std::uint32_t> next(result.offsets.begin(), result.offsets.end() - 1);
  for_each_order(draft, [&](TaskId task, TaskId predecessor) {
    result.tasks[next[index(task)]++] = predecessor;
  });
  std::vector<TaskId> tail(draft.context.lanes.size(), none<TaskId>);
  result.on_lane.reserve(draft.size());
  for (std::size_t t = 0; t < draft.size(); ++t) {
    TaskId& last = tail[index(draft.columns.lane[t])];
    result.on_lane.push_back(last);
    last = make_id<TaskId>(t);
  }
  return result;
}

struct Visit {
  TaskId task{};
  std::uint32_t next = 0;  ///< 0: the lane; then 1 + position among the explicit ones
};

/// Names the tasks from the repeated one to the top of the stack and back; at most eight of them.
Error cycle_error(const Draft& draft, const std::vector<Visit>& stack, TaskId repeated) {
  auto first = std::find_if(stack.begin(), stack.end(),
                            [repeated](const Visit& visit) { return visit.task == repeated; });
  // The stack goes from a task to its predecessor; people read causes first.
  std::vector<TaskId> cycle;
  for (auto at = stack.end(); at != first;) cycle.push_back((--at)->task);
  // Several tasks may be parts of what has one name.
  std::vector<std::string> names;
  for (const TaskId task : cycle) {
    std::string name = draft.name ? draft.name(task) : describe(draft.context, draft.columns, task);
    if (!name.empty() && (names.empty() || names.back() != name)) names.push_back(std::move(name));
  }
  if (names.size() > 1 && names.front() == names.back()) names.pop_back();
  if (names.empty()) names.push_back(describe(draft.context, draft.columns, repeated));
  constexpr std::size_t shown = 8;
  std::string message = "dependency cycle: ";
  for (std::size_t i = 0; i < std::min(shown, names.size()); ++i) message += names[i] + " -> ";
  if (names.size() > shown) message += fmt::format("... {} more -> ", names.size() - shown);
  message += names.front();
  return Error{ErrorCode::cyclic_graph, std::move(message)};
}

}  // namespace

Result<std::vector<TaskId>> topological_ids(const Draft& draft) {
  if (points_backward(draft)) return std::vector<TaskId>{};
  const Predecessors predecessors = collect(draft);
  enum class State : std::uint8_t { untouched, open, placed };
  std::vector<State> state(draft.size(), State::untouched);
  std::vector<TaskId> new_id(draft.size());
  std::vector<Visit> stack;
  std::size_t placed = 0;
  for (std::size_t t = 0; t < draft.size(); ++t) {
    if (state[t] != State::untouched) continue;
    stack.push_back({make_id<TaskId>(t), 0});
    state[t] = State::open;
    while (!stack.empty()) {
      Visit& top = stack.back();
      const std::size_t task = index(top.task);
      const std::size_t begin = predecessors.offsets[task];
      if (begin + top.next > predecessors.offsets[task + 1]) {
        state[task] = State::placed;
        new_id[task] = make_id<TaskId>(placed++);
        stack.pop_back();
        continue;
      }
      const TaskId before =
          top.next == 0 ? predecessors.on_lane[task] : predecessors.tasks[begin + top.next - 1];
      ++top.next;
      if (before == none<TaskId> || state[index(before)] == State::placed) continue;
      if (state[index(before)] == State::open) return cycle_error(draft, stack, before);
      state[index(before)] = State::open;
      stack.push_back({before, 0});
    }
  }
  return new_id;
}

}  // namespace foretrace::committing
