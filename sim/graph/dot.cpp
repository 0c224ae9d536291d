// A graph as Graphviz text.
#include "sim/graph/dot.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "sim/graph/links.h"

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

std::string edge(const Link& d) {
  std::string label = d.on_lane() ? "" : std::string(to_string(d.kind));
  if (!d.on_lane() && !is_end(d.source)) label += " (start)";
  if (d.fraction != 0) label += fmt::format(" + {} of it", d.fraction);
  if (d.lag_ns != 0) label += fmt::format(" {:+} ns", d.lag_ns);
  if (d.late_after != no_point) label += fmt::format(" if after t{}", index(task_of(d.late_after)));
  return fmt::format("  t{} -> t{} [label={}{}{}];\n", index(task_of(d.source)), index(d.task),
                     quoted(label), d.on_lane() ? ", weight=10" : "",
                     d.symbolic ? ", style=dashed" : "");
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
    for (const Link& link : sources(graph, make_id<TaskId>(t))) {
      if (index(task_of(link.source)) >= first) text += edge(link);
    }
  }
  if (last - first < graph.size()) {
    text +=
        fmt::format("  // {} of {} tasks shown, from {} on\n", last - first, graph.size(), first);
  }
  return text + "}\n";
}

}  // namespace foretrace
