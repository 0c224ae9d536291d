// Parts of documents about an analysis, and the document foretrace.critical-path/1.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "apps/report/document_parts.h"
#include "apps/report/documents.h"

namespace foretrace::driver {
namespace {

Json breakdown_json(const Breakdown& breakdown) {
  return {{"host_bound_ns", breakdown.host_bound_ns},
          {"compute_ns", breakdown.compute_ns},
          {"memory_copy_ns", breakdown.memory_copy_ns},
          {"communication_exposed_ns", breakdown.communication_exposed_ns},
          {"communication_waiting_ns", breakdown.communication_waiting_ns},
          {"idle_ns", breakdown.idle_ns}};
}

Json known(const std::optional<std::int64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <std::size_t Count, typename Value, typename Enum>
Json by_name(const std::array<Value, Count>& values, Enum /*type of the index*/) {
  Json object = Json::object();
  for (std::size_t i = 0; i < Count; ++i) {
    if (values[i] != Value{}) {
      object[std::string(to_string(static_cast<Enum>(i)))] = values[i];
    }
  }
  return object;
}

Json memory_json(const Analysis& analysis) {
  Json devices = Json::object();
  for (std::size_t i = 0; i < analysis.memory.size(); ++i) {
    const MemoryCurve& curve = analysis.memory[i];
    Json device = {{"allocated_peak_bytes", curve.peak_bytes},
                   {"allocated_before_bytes", curve.base_bytes}};
    const bool known = i < analysis.reserved.size();
    const ReservedRange range = known ? analysis.reserved[i] : ReservedRange{};
    const auto bytes = [known](std::int64_t value) {
      return known && value >= 0 ? Json(value) : Json(nullptr);
    };
    device["reserved_expected_bytes"] = bytes(range.expected_bytes);
    device["reserved_low_bytes"] = bytes(range.low_bytes);
    device["reserved_high_bytes"] = bytes(range.high_bytes);
    device["reserved_recorded_bytes"] = bytes(range.recorded_bytes);
    device["peak_at_ns"] = curve.peak_at_ns;
    device["at_peak_bytes"] = by_name(curve.at_peak, TensorCategory{});
    devices[std::to_string(curve.rank) + "/" + std::to_string(curve.device)] = std::move(device);
  }
  return devices;
}

Json groups_json(const std::vector<PathGroup>& groups) {
  Json list = Json::array();
  for (const PathGroup& group : groups) {
    list.push_back({{"name", group.label},
                    {"part", to_string(group.part)},
                    {"on_path_ns", group.on_path_ns},
                    {"pieces", group.pieces},
                    {"tasks", group.tasks},
                    {"gain_ns", group.gain_ns}});
  }
  return list;
}

Json pieces_json(const TaskGraph& graph, const CriticalPath& path) {
  Json list = Json::array();
  for (const PathPiece& piece : path.pieces) {
    const std::string_view layer =
        graph.names()[graph.context().layers[index(graph.layer(piece.task))].name];
    list.push_back({{"task", index(piece.task)},
                    {"name", graph.name(piece.task)},
                    {"kind", to_string(graph.kind(piece.task))},
                    {"phase", to_string(graph.phase(piece.task))},
                    {"layer", layer},
                    {"part", to_string(piece.part)},
                    {"waits_for", to_string(piece.cause)},
                    {"begin_ns", piece.begin_ns},
                    {"duration_ns", piece.duration_ns}});
  }
  return list;
}

}  // namespace

void add_analysis(const Analysis& analysis, Json& object) {
  object["breakdown"] = breakdown_json(analysis.breakdown);
  object["communication_overlapped_ns"] = analysis.breakdown.communication_overlapped_ns;
  object["free"] = {{"communication_transfer_ns", known(analysis.free_transfers_ns)},
                    {"communication_waiting_ns", known(analysis.free_waiting_ns)}};
  object["provenance"] = by_name(analysis.provenance, Provenance{});
  object["memory"] = memory_json(analysis);
}

Json path_document(const Recording& recording, const Replay& replay, const PathReport& report) {
  const CriticalPath& path = report.path;
  const PathShares& shares = path.shares;
  return {{"schema", "foretrace.critical-path/1"},
          {"input", input_json(recording.path, recording.events.info)},
          {"baseline", steps_json(replay.run.steps, replay.run.answer)},
          {"step", report.step_number < 0 ? Json(nullptr) : Json(report.step_number)},
          {"rank", report.rank < 0 ? Json(nullptr) : Json(report.rank)},
          {"begin_ns", report.scope.begin_ns},
          {"total_ns", path.total_ns},
          {"shares",
           {{"host_ns", shares.host_ns},
            {"device_ns", shares.device_ns},
            {"network_ns", shares.network_ns},
            {"gap_ns", shares.gap_ns},
            {"latency_ns", shares.latency_ns},
            {"unexplained_ns", shares.unexplained_ns}}},
          {"provenance_ns", by_name(shares.provenance_ns, Provenance{})},
          {"kinds_ns", by_name(shares.kind_ns, TaskKind{})},
          {"latencies_ns", by_name(shares.cause_ns, DependencyKind{})},
          {"groups", groups_json(report.groups)},
          {"host_regions", groups_json(report.regions)},
          {"layers", groups_json(report.layers)},
          {"pieces", pieces_json(recording.graph(), path)},
          {"honesty", honesty_json(recording, replay)}};
}

}  // namespace foretrace::driver
