// What is in a trace.
#include "apps/session/recording/inspect.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "apps/session/recording/measured_steps.h"
#include "sim/engine/pull/pull.h"
#include "trace/annotate/annotate.h"
#include "trace/formats/reader.h"
#include "trace/inputs/read_input.h"
#include "trace/nodes/storages/memory_graph.h"
#include "trace/nodes/storages/node_tensors.h"

namespace foretrace {
namespace {

/// Device time by the value of a key, longest first; equal times by name.
std::vector<Share> longest_first(const std::map<std::string_view, Share>& by_name) {
  std::vector<Share> shares;
  shares.reserve(by_name.size());
  for (const auto& [name, share] : by_name) {
    shares.push_back({std::string(name), share.count, share.time_ns});
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const Share& a, const Share& b) { return a.time_ns > b.time_ns; });
  return shares;
}

template <typename Key>
std::vector<Share> shares_by(const TaskGraph& graph, Key key) {
  std::map<std::string_view, Share> by_name;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (is_device(graph.kind(task))) {
      Share& share = by_name[key(task)];
      ++share.count;
      share.time_ns += graph.duration_ns(task);
    }
  }
  return longest_first(by_name);
}

void add_lanes(const TaskGraph& graph, GraphFacts& facts) {
  const std::vector<Lane>& lanes = graph.context().lanes;
  std::vector<Share> by_lane(lanes.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    Share& share = by_lane[index(graph.lane_id(task))];
    share.count += graph.kind(task) == TaskKind::mark ? 0 : 1;
    share.time_ns += graph.duration_ns(task);
    share.time_ns += is_host(graph.kind(task)) ? graph.segment_ns(task) : 0;
  }
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const Lane& lane = lanes[i];
    if (by_lane[i].count == 0) continue;
    if (lane.kind == LaneKind::host_thread) {
      facts.threads.push_back({lane.number, lane.name, by_lane[i].count, by_lane[i].time_ns});
    } else if (lane.kind == LaneKind::stream) {
      facts.streams.push_back({lane.device, lane.number, by_lane[i].count, by_lane[i].time_ns});
    }
  }
}

GraphFacts facts_of(const trace::BuiltGraph& built) {
  const TaskGraph& graph = built.graph;
  const GraphContext& context = graph.context();
  GraphFacts facts;
  facts.tasks = graph.size();
  facts.dependencies = graph.topology().dependency_count();
  facts.steps = measured_steps(built);
  if (Result<StepAnswer> answer = answer_of(facts.steps, {}); answer.ok()) {
    facts.answer = *answer;
  }
  facts.steps_note = built.steps_note;
  facts.honesty = built.honesty;
  facts.warnings = built.warnings;
  add_lanes(graph, facts);
  facts.kinds = shares_by(graph, [&](TaskId t) { return to_string(graph.kind(t)); });
  facts.phases = shares_by(graph, [&](TaskId t) { return to_string(graph.phase(t)); });
  facts.layers = shares_by(
      graph, [&](TaskId t) { return graph.names()[context.layers[index(graph.layer(t))].name]; });
  facts.kernels = shares_by(graph, [&](TaskId t) { return graph.name(t); });
  facts.operators =
      shares_by(graph, [&](TaskId t) { return graph.names()[graph.work(t).operator_name]; });
  for (const Share& share : facts.kinds) {
    facts.device_time_ns += share.time_ns;
  }
  facts.summary = summarize_step(graph);
  return facts;
}

std::vector<Share> events_by_name(const trace::EventTable& events) {
  std::map<std::string_view, Share> by_name;
  for (std::size_t i = 0; i < events.size(); ++i) {
    Share& share = by_name[events.name_of(make_id<EventId>(i))];
    ++share.count;
    share.time_ns += events.duration_ns[i];
  }
  return longest_first(by_name);
}

void add_memory(const trace::BuiltGraph& built, const MemoryQuestion& memory,
                const Catalogue& catalogue, Inspection& found) {
  found.memory_reports =
      memory_reports({built, built.graph, memory.settings, catalogue}, simulate(built.graph));
  found.memory_note = built.memory_note;
  if (found.nodes) {
    found.model = built.parameters;
  }
}

std::int64_t span_of(const trace::EventTable& events) {
  if (events.size() == 0) return 0;
  std::int64_t first = events.start_ns[0];
  std::int64_t last = first;
  for (std::size_t i = 0; i < events.size(); ++i) {
    first = std::min(first, events.start_ns[i]);
    last = std::max(last, events.end_ns(make_id<EventId>(i)));
  }
  return last - first;
}

}  // namespace

Inspection inspection_of(const std::string& path, const trace::LoadedTrace& trace,
                         const LoadOptions& options, const MemoryQuestion& memory) {
  const trace::EventTable& events = trace.events;
  const Catalogue& catalogue = options.catalogue ? *options.catalogue : no_catalogue();
  Inspection found;
  found.path = path;
  found.info = events.info;
  found.report = trace.report;
  for (const trace::EventKind kind : events.kind) {
    ++found.events_by_kind[static_cast<std::size_t>(kind)];
  }
  found.memory_events = events.memory.size();
  found.sync_records = events.syncs.size();
  found.flows = events.flows.size();
  found.span_ns = span_of(events);
  if (trace.nodes() != nullptr) {
    found.nodes = node_facts(*trace.nodes());
  }
  if (trace.memory() != nullptr) {
    found.memory = memory_facts(*trace.memory());
  }
  const Result<trace::BuiltGraph> built = trace::build_graph(trace, options.build);
  if (memory.asked) {
    found.has_memory_reports = true;
    found.model = trace::estimate_parameters(events, trace::annotate(events));
  }
  if (memory.asked && built.ok()) {
    add_memory(*built, memory, catalogue, found);
  } else if (memory.asked && trace::is_memory_only(trace)) {
    if (const auto tensors = trace::build_memory_graph(trace); tensors.ok()) {
      found.memory_nodes = trace.nodes() != nullptr ? trace.nodes()->size() : 0;
      add_memory(*tensors, memory, catalogue, found);
    }
  }
  if (memory.asked && trace.nodes() != nullptr && found.memory_reports.empty()) {
    found.no_memory = trace::why_no_tensors(events, *trace.nodes());
  }
  if (built.ok()) {
    found.graph = facts_of(*built);
  } else {
    // The path in front of the message is the first thing that every page of ours says anyway.
    const std::string prefix = events.info.path + ": ";
    const std::string& message = built.error().message;
    found.names = events_by_name(events);
    found.no_graph = message.rfind(prefix, 0) == 0 ? message.substr(prefix.size()) : message;
  }
  return found;
}

Result<std::vector<Inspection>> inspect(const std::string& path, const LoadOptions& options,
                                        const MemoryQuestion& memory) {
  FORETRACE_TRY(const std::vector<trace::FoundTrace> read,
                trace::read_input(path, reading_of(options)));
  std::vector<Inspection> found;
  found.reserve(read.size());
  for (const trace::FoundTrace& one : read) {
    found.push_back(inspection_of(one.path, one.trace, options, memory));
  }
  return found;
}

std::string_view to_string(trace::EventKind kind) {
  using trace::EventKind;
  switch (kind) {
    case EventKind::cpu_op: return "cpu_op";
    case EventKind::user_annotation: return "user_annotation";
    case EventKind::runtime: return "runtime";
    case EventKind::python_function: return "python_function";
    case EventKind::overhead: return "overhead";
    case EventKind::kernel: return "kernel";
    case EventKind::copy: return "copy";
    case EventKind::set: return "set";
    case EventKind::gpu_annotation: return "gpu_annotation";
    case EventKind::other: return "other";
  }
  return "other";
}

}  // namespace foretrace
