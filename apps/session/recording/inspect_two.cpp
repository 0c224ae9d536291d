// Two traces of which one completes the other.
#include <utility>

#include <fmt/format.h>

#include "apps/session/recording/inspect.h"
#include "sim/core/text.h"
#include "trace/inputs/read_input.h"
#include "trace/link/execution_trace.h"
#include "trace/link/graph_capture.h"

namespace foretrace {
namespace {

bool is_execution_trace(const trace::LoadedTrace& trace) {
  return trace.nodes() != nullptr && !trace.nodes()->has_durations;
}

std::string link_nodes(trace::LoadedTrace& timed, const trace::LoadedTrace& execution) {
  const Result<trace::ExecutionLink> link = trace::link_execution_trace(timed.events, execution);
  const std::string_view other = file_name_of(execution.events.info.path);
  if (!link.ok()) return fmt::format("not linked with {}: {}", other, link.error().message);
  std::string text = fmt::format(
      "with {} by {}: {} of {} nodes are events of this trace, {} events got shapes from them",
      other, link->method, link->matched, link->nodes, link->shapes_added);
  if (link->other_places > 0) {
    text += fmt::format("; they match in {} other places as well", link->other_places);
  }
  return text;
}

std::string link_capture(const trace::LoadedTrace& capture, trace::LoadedTrace& execution) {
  const Result<trace::CaptureLink> link = trace::join_capture(capture.events, execution.events);
  const std::string_view other = file_name_of(capture.events.info.path);
  if (!link.ok()) return fmt::format("not linked with {}: {}", other, link.error().message);
  return fmt::format(
      "with {} by {}: {} kernels of {} graph {} are captured launches; {} got an operator, {} "
      "shapes, {} a layer",
      other, link->by_name ? "name" : "number", link->kernels, link->graphs,
      link->graphs == 1 ? "launch" : "launches", link->with_operator, link->with_shapes,
      link->with_layer);
}

// Links the two if one completes the other; the first text is of `a`, the second of `b`.
std::pair<std::string, std::string> link(trace::LoadedTrace& a, trace::LoadedTrace& b) {
  if (is_execution_trace(a) != is_execution_trace(b) && a.memory() == nullptr &&
      b.memory() == nullptr) {
    return is_execution_trace(a) ? std::pair{std::string(), link_nodes(b, a)}
                                 : std::pair{link_nodes(a, b), std::string()};
  }
  if (!a.is_timed() || !b.is_timed()) {
    return {};
  }
  const bool first = trace::looks_like_capture(a.events);
  if (first != trace::looks_like_capture(b.events) &&
      trace::looks_like_graph_execution(first ? b.events : a.events)) {
    return first ? std::pair{std::string(), link_capture(a, b)}
                 : std::pair{link_capture(b, a), std::string()};
  }
  return {};
}

}  // namespace

Result<std::vector<Inspection>> inspect_two(const std::string& first, const std::string& second,
                                            const LoadOptions& options,
                                            const MemoryQuestion& memory) {
  const trace::ReadOptions reading = reading_of(options);
  FORETRACE_TRY(std::vector<trace::FoundTrace> a, trace::read_input(first, reading));
  FORETRACE_TRY(std::vector<trace::FoundTrace> b, trace::read_input(second, reading));
  const bool can_link = a.size() == 1 && b.size() == 1;
  const auto [of_first, of_second] =
      can_link ? link(a.front().trace, b.front().trace) : std::pair<std::string, std::string>();
  std::vector<Inspection> found;
  for (const auto* const traces : {&a, &b}) {
    for (const trace::FoundTrace& one : *traces) {
      found.push_back(inspection_of(one.path, one.trace, options, memory));
    }
  }
  found.front().link = of_first;
  found.back().link = of_second;
  return found;
}

}  // namespace foretrace
