// The document foretrace.inspect/1.
#include <nlohmann/json.hpp>

#include "apps/report/document_parts.h"
#include "apps/report/documents.h"

namespace foretrace::driver {
namespace {

Json shares_json(const std::vector<Share>& shares) {
  Json list = Json::array();
  for (const Share& share : shares) {
    list.push_back({{"name", share.name}, {"count", share.count}, {"time_ns", share.time_ns}});
  }
  return list;
}

Json summary_json(const std::vector<SummaryNode>& nodes) {
  Json list = Json::array();
  for (const SummaryNode& node : nodes) {
    list.push_back({{"name", node.name},
                    {"repeats", node.repeats},
                    {"operations", node.operations},
                    {"device_ns", node.device_ns},
                    {"host_ns", node.host_ns},
                    {"below", summary_json(node.children)}});
  }
  return list;
}

Json graph_json(const GraphFacts& facts) {
  Json threads = Json::array();
  for (const ThreadFacts& thread : facts.threads) {
    threads.push_back({{"number", thread.number},
                       {"name", thread.name},
                       {"calls", thread.calls},
                       {"time_ns", thread.time_ns}});
  }
  Json streams = Json::array();
  for (const StreamFacts& stream : facts.streams) {
    streams.push_back({{"device", stream.device},
                       {"number", stream.number},
                       {"operations", stream.operations},
                       {"time_ns", stream.time_ns}});
  }
  return {{"tasks", facts.tasks},
          {"dependencies", facts.dependencies},
          {"measured", steps_json(facts.steps, facts.answer)},
          {"device_time_ns", facts.device_time_ns},
          {"device_busy_ns", facts.honesty.device_busy_ns},
          {"host_only_ns", facts.honesty.host_only_ns},
          {"threads", std::move(threads)},
          {"streams", std::move(streams)},
          {"kinds", shares_json(facts.kinds)},
          {"phases", shares_json(facts.phases)},
          {"layers", shares_json(facts.layers)},
          {"summary",
           {{"in_stage_ns", facts.summary.in_stage_ns},
            {"in_module_ns", facts.summary.in_module_ns},
            {"could_be_in_module_ns", facts.summary.could_be_in_module_ns},
            {"stages", summary_json(facts.summary.stages)}}},
          {"kernels", shares_json(facts.kernels)},
          {"operators", shares_json(facts.operators)},
          {"honesty", honesty_json(facts.honesty, nullptr)},
          {"warnings", facts.warnings}};
}

Json nodes_json(const NodeFacts& facts) {
  return {{"schema", facts.schema},
          {"nodes", facts.nodes},
          {"on_device", facts.on_device},
          {"communications", facts.communications},
          {"communicated_bytes", facts.communicated_bytes},
          {"with_duration", facts.with_duration},
          {"data_dependencies", facts.data_dependencies},
          {"control_dependencies", facts.control_dependencies},
          {"tensors", facts.tensors},
          {"storages", facts.storages},
          {"storage_bytes", facts.storage_bytes}};
}

Json memory_json(const MemoryFacts& facts) {
  Json at_peak = Json::object();
  for (const auto& [category, bytes] : facts.at_peak) {
    at_peak[category] = bytes;
  }
  return {{"samples", facts.samples},
          {"span_ns", facts.span_ns},
          {"peak_bytes", facts.peak_bytes},
          {"peak_at_ns", facts.peak_at_ns},
          {"reserved_bytes", facts.reserved_bytes < 0 ? Json(nullptr) : Json(facts.reserved_bytes)},
          {"at_peak", std::move(at_peak)}};
}

Json model_json(const trace::ParameterEstimate& model) {
  return {{"provenance", to_string(model.is_exact ? Provenance::measured : Provenance::assumed)},
          {"parameters", model.parameters},
          {"parameter_bytes", model.parameter_bytes},
          {"buffer_bytes", model.buffer_bytes},
          {"maybe_tied_bytes", model.tied_bytes},
          {"optimizer", model.optimizer.empty() ? Json(nullptr) : Json(model.optimizer)},
          {"state_bytes", model.trains ? model.states * model.parameter_bytes : 0},
          {"gradient_bytes", model.trains ? model.parameter_bytes : 0}};
}

}  // namespace

Json inspect_document(std::span<const Inspection> traces) {
  Json list = Json::array();
  for (const Inspection& found : traces) {
    Json kinds = Json::object();
    for (std::size_t i = 0; i < found.events_by_kind.size(); ++i) {
      kinds[std::string(to_string(static_cast<trace::EventKind>(i)))] = found.events_by_kind[i];
    }
    Json entry = {{"input", input_json(found.path, found.info)},
                  {"import", import_json(found.report)},
                  {"events_by_kind", std::move(kinds)},
                  {"memory_events", found.memory_events},
                  {"sync_records", found.sync_records},
                  {"flows", found.flows},
                  {"span_ns", found.span_ns},
                  {"graph", found.graph ? graph_json(*found.graph) : Json(nullptr)},
                  {"no_graph", found.no_graph.empty() ? Json(nullptr) : Json(found.no_graph)}};
    for (const auto& [key, value] : found.info.environment) {
      entry["environment"][key] = value;
    }
    if (!found.link.empty()) {
      entry["link"] = found.link;
    }
    if (!found.names.empty()) {
      entry["events_by_name"] = shares_json(found.names);
    }
    if (found.nodes) {
      entry["nodes"] = nodes_json(*found.nodes);
    }
    if (found.memory) {
      entry["memory"] = memory_json(*found.memory);
    }
    if (found.has_memory_reports) {
      entry["device_memory"] = {{"model", model_json(found.model)},
                                {"devices", memory_reports_json(found.memory_reports)}};
      if (!found.memory_note.empty()) {
        entry["device_memory"]["rests_on"] = found.memory_note;
        entry["device_memory"]["has_times"] = found.memory_nodes == 0;
      }
    }
    list.push_back(std::move(entry));
  }
  return {{"schema", "foretrace.inspect/1"}, {"traces", std::move(list)}};
}

}  // namespace foretrace::driver
