// The page of `inspect`: foretrace.inspect/1, one part per trace.
#include "apps/report/pages/inspect.h"

#include <array>

#include "apps/report/builder.h"

namespace foretrace::report {

namespace sections {
Builder<InspectAnswer> inspected_trace, inspected_nodes, graph_facts, modules, events_by_name,
    memory_over_time, allocator_state, device_memory, device_memory_document;
Builder<TracesAnswer> trace_table;
}  // namespace sections

namespace {

using namespace sections;

constexpr std::array everything = {inspected_trace, inspected_nodes,  graph_facts,
                                   modules,         memory_over_time, allocator_state,
                                   events_by_name,  device_memory,    device_memory_document};
constexpr std::array in_general = {inspected_trace, inspected_nodes, memory_over_time,
                                   allocator_state, graph_facts,     events_by_name};
constexpr std::array in_memory = {device_memory, allocator_state};
constexpr std::array in_modules = {modules};
constexpr std::array in_both = {device_memory, allocator_state, modules};

std::span<Builder<InspectAnswer>* const> shown_of(const InspectQuestion& question) {
  if (question.memory && question.modules) return in_both;
  if (question.memory) return in_memory;
  if (question.modules) return in_modules;
  return in_general;
}

Page part_of(const Inspection& found, const InspectQuestion& question) {
  const InspectAnswer answer{found, question};
  return {.document_keys = {"input", "import", "events_by_kind", "memory_events", "sync_records",
                            "flows", "span_ns", "graph", "no_graph", "environment", "link",
                            "events_by_name", "nodes", "memory", "device_memory"},
          .sections = build<InspectAnswer>(shown_of(question), everything, answer),
          .part_name = found.path};
}

}  // namespace

Page inspect_page(std::span<const Inspection> traces, const InspectQuestion& question) {
  Page page{.schema = "foretrace.inspect/1",
            .main_table = question.memory && !question.modules ? "categories"
                          : question.modules                   ? "stages"
                                                               : "kernels",
            .parts_key = "traces",
            .part_title = "trace"};
  for (const Inspection& found : traces) page.parts.push_back(part_of(found, question));
  if (traces.size() < 2) return page;
  if (!question.memory && !question.modules) {
    page.sections = trace_table({traces, question});
    page.brief_hides_parts = true;
    page.main_table = "traces";
  }
  return page;
}

}  // namespace foretrace::report
