// The document foretrace.inspect/1.
#include <nlohmann/json.hpp>

#include "apps/driver/document_parts.h"
#include "apps/driver/documents.h"

namespace foretrace::driver {
namespace {

Json shares_json(const std::vector<Share>& shares) {
  Json list = Json::array();
  for (const Share& share : shares) {
    list.push_back({{"name", share.name}, {"count", share.count}, {"time_ns", share.time_ns}});
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
          {"kernels", shares_json(facts.kernels)},
          {"operators", shares_json(facts.operators)},
          {"honesty", honesty_json(facts.honesty, nullptr)},
          {"warnings", facts.warnings}};
}

}  // namespace

Json inspect_document(std::span<const Inspection> traces) {
  Json list = Json::array();
  for (const Inspection& found : traces) {
    Json kinds = Json::object();
    for (std::size_t i = 0; i < found.events_by_kind.size(); ++i) {
      kinds[std::string(to_string(static_cast<trace::EventKind>(i)))] = found.events_by_kind[i];
    }
    list.push_back({{"input", input_json(found.path, found.info)},
                    {"import", import_json(found.report)},
                    {"events_by_kind", std::move(kinds)},
                    {"memory_events", found.memory_events},
                    {"sync_records", found.sync_records},
                    {"flows", found.flows},
                    {"span_ns", found.span_ns},
                    {"graph", found.graph ? graph_json(*found.graph) : Json(nullptr)},
                    {"no_graph", found.no_graph.empty() ? Json(nullptr) : Json(found.no_graph)}});
  }
  return {{"schema", "foretrace.inspect/1"}, {"traces", std::move(list)}};
}

}  // namespace foretrace::driver
