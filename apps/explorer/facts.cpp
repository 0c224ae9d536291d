#include "apps/explorer/facts.h"

#include <algorithm>
#include <array>
#include <span>

#include <nlohmann/json.hpp>

#include "models/hardware/kernels/kernel_class.h"

namespace foretrace::explorer {
namespace {

using nlohmann::json;

// A longer name than this says nothing that its begin does not; some traces have names of a MB.
constexpr std::size_t longest_text = 2000;

json columns_of(const PackedGraph& packed) {
  json columns = json::array();
  for (const PackedColumn& column : packed.columns) {
    columns.push_back({column.name, column.offset, column.bytes, column.count, column.unit});
  }
  return columns;
}

KernelClass class_of(const TaskGraph& graph, const Work& work) {
  if (!is_device(work.kind)) return KernelClass::other;
  const NameTable& names = graph.names();
  return classify({names[work.name], names[work.operator_name], names[work.types], work.kind})
      .kernel_class;
}

json work_of(const TaskGraph& graph, const Work& work, Strings& strings) {
  const auto text = [&](NameId name) { return strings.index_of(graph.names()[name]); };
  return {text(work.name),
          text(work.operator_name),
          text(work.shapes),
          static_cast<int>(work.kind),
          static_cast<int>(class_of(graph, work)),
          static_cast<int>(work.part)};
}

/// Works from `first` on.
json works_of(const TaskGraph& graph, std::size_t first, Strings& strings) {
  json works = json::array();
  for (std::size_t i = first; i < graph.context().works.size(); ++i) {
    works.push_back(work_of(graph, graph.context().works[i], strings));
  }
  return works;
}

/// Names of the regions of host time, by the id that columns have for them.
json label_facts(const TaskGraph& graph, Strings& strings) {
  json labels = json::object();
  for (const SegmentPart& part : graph.context().segment_parts) {
    labels[std::to_string(index(part.label))] = strings.index_of(graph.names()[part.label]);
  }
  return labels;
}

std::string_view kind_text(LaneKind kind) {
  switch (kind) {
    case LaneKind::origin: return "origin";
    case LaneKind::host_thread: return "host_thread";
    case LaneKind::stream: return "stream";
    case LaneKind::copy_direction: return "copy_direction";
    case LaneKind::channel: return "channel";
  }
  return "?";
}

json lanes_of(const TaskGraph& graph, std::size_t first) {
  json lanes = json::array();
  for (std::size_t i = first; i < graph.context().lanes.size(); ++i) {
    const Lane& lane = graph.context().lanes[i];
    lanes.push_back({{"kind", kind_text(lane.kind)},
                     {"rank", lane.rank},
                     {"number", lane.number},
                     {"name", lane.name.substr(0, longest_text)}});
    if (lane.device != no_device) lanes.back()["device"] = lane.device;
  }
  return lanes;
}

/// Layers of the model as [name, parent]; [0] is "no layer". None where nothing is known of them.
json layers_of(const TaskGraph& graph, Strings& strings) {
  json layers = json::array();
  if (graph.context().layers.size() < 2) return layers;
  for (const Layer& layer : graph.context().layers) {
    const bool has_parent = index(layer.parent) < graph.context().layers.size();
    layers.push_back({strings.index_of(graph.names()[layer.name]),
                      has_parent ? json(index(layer.parent)) : json(-1)});
  }
  return layers;
}

/// The layer of every task, as pairs of a layer and how many tasks in a row are of it.
json layer_runs_of(const TaskGraph& graph) {
  json runs = json::array();
  if (graph.context().layers.size() < 2) return runs;
  const std::vector<LayerId>& layer = graph.columns().layer;
  for (std::size_t first = 0, i = 1; i <= layer.size(); ++i) {
    if (i < layer.size() && layer[i] == layer[first]) continue;
    runs.push_back(index(layer[first]));
    runs.push_back(i - first);
    first = i;
  }
  return runs;
}

json steps_of(const TaskGraph& graph) {
  json steps = json::array();
  for (const Step& step : graph.context().steps) {
    steps.push_back({step.rank, step.number, index(step.begin), index(step.end)});
  }
  return steps;
}

/// Works of a changed graph that are those of the base, with the same names.
std::size_t works_in_common(const TaskGraph& graph, const TaskGraph& base) {
  const auto& works = graph.context().works;
  const auto& old = base.context().works;
  const auto same = [&](std::size_t i) {
    return works[i] == old[i] && graph.names()[works[i].name] == base.names()[old[i].name] &&
           graph.names()[works[i].operator_name] == base.names()[old[i].operator_name] &&
           graph.names()[works[i].shapes] == base.names()[old[i].shapes] &&
           graph.names()[works[i].types] == base.names()[old[i].types];
  };
  std::size_t count = 0;
  while (count < std::min(works.size(), old.size()) && same(count)) ++count;
  return count;
}

/// The members of an object that are in a list.
json picked(const json& from, std::span<const std::string_view> keys) {
  json some = json::object();
  for (const std::string_view key : keys) {
    if (const auto found = from.find(key); found != from.end()) some[std::string(key)] = *found;
  }
  return some;
}

/// Of one run.
json run_facts(const json& run) {
  constexpr std::array<std::string_view, 9> told = {"step_ns",    "span_ns",   "step_is",
                                                    "low_ns",     "high_ns",   "error",
                                                    "provenance", "breakdown", "throughput"};
  constexpr std::array<std::string_view, 1> peak = {"allocated_peak_bytes"};
  json facts = picked(run, told);
  if (const auto memory = run.find("memory"); memory != run.end() && memory->is_object()) {
    for (const auto& [device, figures] : memory->items()) {
      facts["memory"][device] = picked(figures, peak);
    }
  }
  return facts;
}

}  // namespace

json answer_facts(const std::string& document) {
  if (document.empty()) return nullptr;
  const json answer = json::parse(document);
  constexpr std::array<std::string_view, 7> told = {"speedup",   "time_ratio", "tasks", "scenario",
                                                    "before_ns", "after_ns",   "uses"};
  json facts = picked(answer, told);
  for (const char* const run : {"baseline", "predicted"}) {
    const auto found = answer.find(run);
    if (found != answer.end() && found->is_object()) facts[run] = run_facts(*found);
  }
  return facts;
}

std::size_t Strings::index_of(std::string_view text) {
  text = text.substr(0, longest_text);
  const auto found = at_.find(text);
  if (found != at_.end()) return found->second;
  const auto added = at_.emplace(std::string(text), at_.size()).first;
  in_order_.push_back(&added->first);
  return added->second;
}

json Strings::list(std::size_t first) const {
  json texts = json::array();
  for (std::size_t i = first; i < in_order_.size(); ++i) texts.push_back(*in_order_[i]);
  return texts;
}

json base_facts(const TaskGraph& graph, const PackedGraph& packed, Strings& strings) {
  return {{"block", "graph"},
          {"columns", columns_of(packed)},
          {"works", works_of(graph, 0, strings)},
          {"labels", label_facts(graph, strings)},
          {"layers", layers_of(graph, strings)},
          {"layer_runs", layer_runs_of(graph)},
          {"lanes", lanes_of(graph, 0)},
          {"steps", steps_of(graph)}};
}

json variant_facts(const Variant& variant, const ChangedRun& changed, const TaskGraph& base,
                   const PackedGraph& packed, Strings& strings) {
  const TaskGraph& graph = changed.graph;
  const std::size_t works = works_in_common(graph, base);
  json answer = answer_facts(variant.document);
  if (answer.is_object()) answer.erase("baseline");  // as the page has it of the recording
  const std::size_t lanes = std::min(base.context().lanes.size(), graph.context().lanes.size());
  return {{"name", variant.name},
          {"title", variant.title},
          {"apply", variant.apply},
          {"summary", variant.summary},
          {"paper", variant.paper},
          {"how", variant.how},
          {"step_ns", changed.run.answer.step_ns},
          {"samples", changed.samples.value_or(1)},
          {"answer", answer},
          {"block", "variant-" + variant.name},
          {"columns", columns_of(packed)},
          {"works_from", works},
          {"works", works_of(graph, works, strings)},
          {"lanes_from", lanes},
          {"lanes", lanes_of(graph, lanes)},
          {"steps", steps_of(graph)}};
}

}  // namespace foretrace::explorer
