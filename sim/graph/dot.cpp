// A graph as Graphviz text.
#include "sim/graph/dot.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace foretrace {

namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + '"';
}

std::string box(const TaskGraph& graph, TaskId task) {
  // Inside the quotes Graphviz takes \n for a line break.
  std::string label = quoted(fmt::format("{} {}", index(task), graph.name(task)));
  label.insert(label.size() - 1, fmt::format("\\n{} ns", graph.duration_ns(task)));
  return fmt::format("    t{} [label={}];\n", index(task), label);
}

std::string edge(const Dependency& d, bool lane, bool symbolic) {
  std::string label = lane ? "" : std::string(to_string(d.kind));
  if (!lane && !is_end(d.source)) label += " (start)";
  if (d.fraction != 0) label += fmt::format(" + {} of it", d.fraction);
  if (d.lag_ns != 0) label += fmt::format(" {:+} ns", d.lag_ns);
  if (d.late_after != no_point) label += fmt::format(" if after t{}", index(task_of(d.late_after)));
  return fmt::format("  t{} -> t{} [label={}{}{}];\n", index(task_of(d.source)), index(d.task),
                     quoted(label), lane ? ", weight=10" : "", symbolic ? ", style=dashed" : "");
}

/// As dependencies_of() lists them: whether each is a resolved wait or queue.
std::vector<bool> symbolic_flags(const TaskGraph& graph, TaskId task) {
  const Topology& topology = graph.topology();
  std::vector<bool> flags;
  for (std::size_t slot = lane_slot; slot < overflow_slot; ++slot) {
    if (topology.sources[index(task)][slot] == no_point) continue;
    flags.push_back(is_symbolic(topology.kinds[index(task)][slot]));
  }
  for (const OverflowDependency& d : topology.overflow) {
    if (d.task == task) flags.push_back(d.symbolic);
  }
  return flags;
}

}  // namespace

std::string to_dot(const TaskGraph& graph, const DotOptions& options) {
  const std::size_t first = std::min(options.first, graph.size());
  const std::size_t last = first + std::min(options.limit, graph.size() - first);
  std::string text = "digraph foretrace {\n  rankdir=LR;\n  node [shape=box];\n";
  for (std::size_t lane = 0; lane < graph.context().lanes.size(); ++lane) {
    std::string boxes;
    for (std::size_t t = first; t < last; ++t) {
      if (index(graph.columns().lane[t]) == lane) boxes += box(graph, make_id<TaskId>(t));
    }
    if (boxes.empty()) continue;
    text += fmt::format("  subgraph cluster_{} {{\n    label={};\n{}  }}\n", lane,
                        quoted(graph.context().lanes[lane].name), boxes);
  }
  for (std::size_t t = first; t < last; ++t) {
    const auto task = make_id<TaskId>(t);
    const std::vector<Dependency> dependencies = dependencies_of(graph, task);
    const std::vector<bool> symbolic = symbolic_flags(graph, task);
    for (std::size_t i = 0; i < dependencies.size(); ++i) {
      const bool lane = i == 0 && graph.topology().sources[t][lane_slot] == dependencies[i].source;
      if (index(task_of(dependencies[i].source)) < first) continue;
      text += edge(dependencies[i], lane, symbolic[i]);
    }
  }
  if (last - first < graph.size()) {
    text +=
        fmt::format("  // {} of {} tasks shown, from {} on\n", last - first, graph.size(), first);
  }
  return text + "}\n";
}

}  // namespace foretrace
