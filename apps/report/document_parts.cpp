// Parts that several JSON documents share.
#include "apps/report/document_parts.h"

#include <nlohmann/json.hpp>

#include "apps/report/documents.h"

namespace foretrace::driver {
namespace {

Json device_json(const trace::DeviceProperties& device) {
  return {{"id", device.id},
          {"name", device.name},
          {"memory_bytes", device.total_memory_bytes},
          {"multiprocessors", device.multiprocessors},
          {"compute_capability",
           std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor)}};
}

}  // namespace

Json known(std::int64_t value) { return value < 0 ? Json(nullptr) : Json(value); }

Json input_json(const std::string& path, const trace::TraceInfo& info) {
  Json devices = Json::array();
  for (const trace::DeviceProperties& device : info.devices) {
    devices.push_back(device_json(device));
  }
  return {{"path", path},
          {"format", info.format},
          {"rank", known(info.rank)},
          {"world_size", known(info.world_size)},
          {"resolution_ns", info.resolution_ns},
          {"devices", std::move(devices)}};
}

Json import_json(const trace::ImportReport& report) {
  Json reasons = Json::array();
  for (const trace::Damage& damage : report.damage) {
    reasons.push_back({{"reason", damage.reason},
                       {"kind", damage.kind == trace::DamageKind::dropped ? "dropped" : "repaired"},
                       {"count", damage.count},
                       {"first_offset", damage.first_offset},
                       {"example", damage.example}});
  }
  return {{"events", report.events},       {"kept", report.kept},   {"dropped", report.dropped()},
          {"repaired", report.repaired()}, {"bytes", report.bytes}, {"reasons", std::move(reasons)},
          {"warnings", report.warnings}};
}

Json honesty_json(const Recording& recording, const Replay& replay) {
  Json object = honesty_json(recording.built.honesty, &replay.reactions);
  Json doubt = Json::array();
  for (const Doubt& reason : replay.doubts) {
    doubt.push_back(reason.text);
  }
  object["doubt"] = std::move(doubt);
  return object;
}

Json honesty_json(const trace::Honesty& honesty, const Reactions* reactions) {
  Json origins = Json::object();
  for (std::size_t i = 0; i < honesty.edges_by_origin.size(); ++i) {
    origins[trace::edge_origin_names[i]] = honesty.edges_by_origin[i];
  }
  Json object = {{"unexplained_device_ns", honesty.unexplained_device_ns},
                 {"unexplained_device_count", honesty.unexplained_device_count},
                 {"unexplained_launch_ns", honesty.unexplained_launch_ns},
                 {"unexplained_launch_count", honesty.unexplained_launch_count},
                 {"unrecorded_device_ns", honesty.unrecorded_device_ns},
                 {"unrecorded_device_count", honesty.unrecorded_device_count},
                 {"queue_blocked_ns", honesty.queue_blocked_ns},
                 {"queue_blocked_count", honesty.queue_blocked_count},
                 {"overhead_removed_ns", honesty.profiler_ns},
                 {"edges_by_origin", std::move(origins)},
                 {"contradicted_edges", honesty.contradicted_edges},
                 {"hand_overs", honesty.hand_overs},
                 {"absolute_pins", honesty.absolute_pins},
                 {"initial_backlog_ns", honesty.initial_backlog_ns},
                 {"first_use_ns", honesty.first_use_ns},
                 {"pre_window_operations", honesty.pre_window_operations},
                 {"span_ns", honesty.span_ns},
                 {"host_only_ns", honesty.host_only_ns}};
  if (reactions != nullptr) {
    object["device_x0_ns"] = reactions->device_x0_ns;
  }
  object["device_busy_ns"] = honesty.device_busy_ns;
  if (reactions != nullptr) {
    object["host_x0_ns"] = reactions->host_x0_ns;
    object["device_half_ns"] = reactions->device_half_ns;
    object["device_double_ns"] = reactions->device_double_ns;
  }
  object["flags"] = honesty.flags;
  return object;
}

Json steps_json(const StepTimes& times, const StepAnswer& answer) {
  Json device = Json::array();
  for (const std::int64_t period : times.device_ns) {
    device.push_back(known(period));
  }
  return {{"step_ns", answer.step_ns},
          {"host_period_ns", answer.host_ns},
          {"device_period_ns", known(answer.device_ns)},
          {"limited_by", answer.device_limits() ? "device" : "host"},
          {"measured_by", to_string(answer.limit)},
          {"device_work_ns", answer.work_ns},
          {"steps_left_out", answer.left_out},
          {"step_is", answer.is_span ? "span" : "recorded step"},
          {"step_numbers", times.numbers},
          {"steps_ns", times.host_ns},
          {"device_periods_ns", std::move(device)},
          {"span_ns", times.span_ns}};
}

std::string text_of(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace foretrace::driver
