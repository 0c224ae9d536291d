// Every invariant of a task graph, one function each.
#include "sim/graph/validate.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/graph/commit/draft.h"

namespace foretrace {

namespace {

Error broken(const TaskGraph& graph, std::size_t task, std::string_view what) {
  return Error{
      ErrorCode::bad_format,
      fmt::format("{}: {}",
                  committing::describe(graph.context(), graph.columns(), make_id<TaskId>(task)),
                  what)};
}

/// Every dependency of a slot or of the overflow list, waits and queues included.
std::vector<Dependency> all_dependencies(const TaskGraph& graph) {
  const Topology& topology = graph.topology();
  std::vector<Dependency> result;
  result.reserve(topology.dependency_count());
  for (std::size_t t = 0; t < graph.size(); ++t) {
    for (std::size_t slot = cause_slot; slot <= extra_slot; ++slot) {
      if (topology.sources[t][slot] == no_point) continue;
      result.push_back({topology.sources[t][slot], make_id<TaskId>(t),
                        kind_of(topology.kinds[t][slot]), (*graph.weights().lag_ns)[t][slot - 1],
                        0.0F, no_point});
    }
  }
  for (std::size_t i = 0; i < topology.overflow.size(); ++i) {
    const OverflowDependency& d = topology.overflow[i];
    result.push_back({d.source, d.task, d.kind, (*graph.weights().overflow_lag_ns)[i], d.fraction,
                      d.late_after});
  }
  return result;
}

Status check_order(const TaskGraph& graph, const std::vector<Dependency>& dependencies) {
  std::vector<Point> tail(graph.context().lanes.size(), no_point);
  for (std::size_t t = 0; t < graph.size(); ++t) {
    Point& last = tail[index(graph.columns().lane[t])];
    if (graph.topology().sources[t][lane_slot] != last) {
      return broken(graph, t, "its lane slot is not the end of the previous task on the lane");
    }
    last = end_of(make_id<TaskId>(t));
  }
  for (const Dependency& d : dependencies) {
    if (static_cast<std::size_t>(d.kind) >= dependency_kind_count) {
      return broken(graph, index(d.task), "it has a dependency of no known kind");
    }
    if (task_of(d.source) >= d.task) {
      return broken(graph, index(d.task), "it depends on a task that does not stand before it");
    }
    if (d.late_after != no_point && task_of(d.late_after) >= d.task) {
      return broken(graph, index(d.task), "a condition of it lies in a task not before it");
    }
  }
  return ok_status();
}

Status check_overflow(const TaskGraph& graph) {
  const auto& rows = graph.topology().overflow;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].task < rows[i - 1].task) {
      return broken(graph, index(rows[i].task), "the overflow list is not sorted by task");
    }
  }
  return ok_status();
}

Status check_forward(const TaskGraph& graph) {
  const Topology& topology = graph.topology();
  const auto& offsets = topology.forward_offsets;
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != topology.forward.size() ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    return Error{ErrorCode::bad_format, "the forward list and its offsets do not fit together"};
  }
  std::vector<std::uint32_t> next(offsets.begin(), offsets.end() - 1);
  std::size_t row = 0;
  const auto listed = [&](Point source, std::uint32_t entry) {
    const std::size_t from = index(task_of(source));
    return next[from] < offsets[from + 1] && topology.forward[next[from]++] == entry;
  };
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const auto task = static_cast<std::uint32_t>(t);
    for (std::uint32_t slot = 0; slot < overflow_slot; ++slot) {
      const Point source = topology.sources[t][slot];
      if (source != no_point && !listed(source, (task << 2U) | slot)) {
        return broken(graph, t, "the forward list does not name one of its dependencies");
      }
    }
    for (; row < topology.overflow.size() && index(topology.overflow[row].task) == t; ++row) {
      if (!listed(topology.overflow[row].source, (task << 2U) | overflow_slot)) {
        return broken(graph, t, "the forward list does not name one of its overflow dependencies");
      }
    }
  }
  for (std::size_t t = 0; t < graph.size(); ++t) {
    if (next[t] != offsets[t + 1]) {
      return broken(graph, t, "the forward list names a dependency that does not exist");
    }
  }
  return ok_status();
}

template <typename Row, typename Key>
bool sorted_by(const std::vector<Row>& rows, const Key& key) {
  return std::is_sorted(rows.begin(), rows.end(),
                        [&key](const Row& a, const Row& b) { return key(a) < key(b); });
}

Status check_tables(const GraphContext& context) {
  const auto by_task = [](const auto& row) { return row.task; };
  const bool sorted = sorted_by(context.waits, [](const Wait& wait) { return wait.at; }) &&
                      sorted_by(context.steps,
                                [](const Step& s) {
                                  return std::pair{s.rank, s.begin};
                                }) &&
                      sorted_by(context.segment_parts, by_task) &&
                      sorted_by(context.demands, by_task) &&
                      sorted_by(context.priorities, by_task) && sorted_by(context.stalls, by_task);
  if (sorted) return ok_status();
  return Error{ErrorCode::bad_format, "a side table of the graph is not sorted"};
}

}  // namespace

Status validate(const TaskGraph& graph) {
  if (graph.topology().forward_offsets.size() != graph.size() + 1) {
    return Error{ErrorCode::bad_format, "the forward list has no place for every task"};
  }
  const std::vector<Dependency> dependencies = all_dependencies(graph);
  const committing::Parts parts{graph.context(), graph.columns(), *graph.weights().duration_ns,
                                *graph.weights().segment_ns, dependencies};
  FORETRACE_TRY(committing::check(parts));
  FORETRACE_TRY(check_order(graph, dependencies));
  FORETRACE_TRY(check_overflow(graph));
  FORETRACE_TRY(check_forward(graph));
  return check_tables(graph.context());
}

}  // namespace foretrace
