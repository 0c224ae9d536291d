#include "apps/report/sections/parts.h"

#include <utility>

namespace foretrace::report {
namespace {

Value devices_value(const trace::TraceInfo& info) {
  Value::List devices;
  for (const trace::DeviceProperties& device : info.devices) {
    devices.push_back(Value::object(
        {{"id", Value::plain(device.id)},
         {"name", Value::words(device.name)},
         {"memory_bytes", Value::bytes(device.total_memory_bytes)},
         {"multiprocessors", Value::plain(device.multiprocessors)},
         {"compute_capability", Value::words(std::to_string(device.compute_major) + "." +
                                             std::to_string(device.compute_minor))}}));
  }
  return Value::list(std::move(devices));
}

Value reasons_value(const trace::ImportReport& report) {
  Value::List reasons;
  for (const trace::Damage& damage : report.damage) {
    const bool is_dropped = damage.kind == trace::DamageKind::dropped;
    reasons.push_back(Value::object({{"reason", Value::words(damage.reason)},
                                     {"kind", Value::words(is_dropped ? "dropped" : "repaired")},
                                     {"count", Value::count(damage.count)},
                                     {"first_offset", Value::count(damage.first_offset)},
                                     {"example", Value::words(damage.example)}}));
  }
  return Value::list(std::move(reasons));
}

}  // namespace

Section input_section(const std::string& path, const trace::TraceInfo& info) {
  Section section{.key = "input", .path = "input", .show = Show::never};
  section.datum("path", Value::words(path));
  section.datum("format", Value::words(info.format));
  section.datum("rank", Value::known(info.rank));
  section.datum("world_size", Value::known(info.world_size));
  section.datum("resolution_ns", Value::plain(info.resolution_ns));
  section.datum("devices", devices_value(info));
  return section;
}

Section import_section(const trace::ImportReport& report) {
  Section section{.key = "import", .path = "import", .show = Show::never};
  section.datum("events", Value::count(report.events));
  section.datum("kept", Value::count(report.kept));
  section.datum("dropped", Value::count(report.dropped()));
  section.datum("repaired", Value::count(report.repaired()));
  section.datum("bytes", Value::count(report.bytes));
  section.datum("reasons", reasons_value(report));
  section.datum("warnings", Value::texts(report.warnings));
  return section;
}

Section steps_section(const std::string& path, const StepTimes& times, const StepAnswer& answer) {
  Section section{.key = path, .path = path, .show = Show::never};
  Value::List periods;
  for (const std::int64_t period : times.device_ns) {
    periods.push_back(Value::known_time(period));
  }
  section.datum("step_ns", Value::time(answer.step_ns));
  section.datum("host_period_ns", Value::time(answer.host_ns));
  section.datum("device_period_ns", Value::known_time(answer.device_ns));
  section.datum("limited_by", Value::words(answer.device_limits() ? "device" : "host"));
  section.datum("measured_by", Value::words(to_string(answer.limit)));
  section.datum("device_work_ns", Value::time(answer.work_ns));
  section.datum("steps_left_out", Value::count(answer.left_out));
  section.datum("step_is", Value::words(answer.is_span ? "span" : "recorded step"));
  section.datum("step_numbers", Value::numbers(times.numbers));
  section.datum("steps_ns", Value::numbers(times.host_ns));
  section.datum("device_periods_ns", Value::list(std::move(periods)));
  section.datum("span_ns", Value::time(times.span_ns));
  return section;
}

Section honesty_section(std::string path, const trace::Honesty& honesty, const Replay* replay) {
  Section section{.key = "honesty", .path = std::move(path), .show = Show::never};
  Value::Object origins;
  for (std::size_t i = 0; i < honesty.edges_by_origin.size(); ++i) {
    origins.push_back({trace::edge_origin_names[i], Value::count(honesty.edges_by_origin[i])});
  }
  section.datum("unexplained_device_ns", Value::time(honesty.unexplained_device_ns));
  section.datum("unexplained_device_count", Value::count(honesty.unexplained_device_count));
  section.datum("unexplained_launch_ns", Value::time(honesty.unexplained_launch_ns));
  section.datum("unexplained_launch_count", Value::count(honesty.unexplained_launch_count));
  section.datum("unrecorded_device_ns", Value::time(honesty.unrecorded_device_ns));
  section.datum("unrecorded_device_count", Value::count(honesty.unrecorded_device_count));
  section.datum("queue_blocked_ns", Value::time(honesty.queue_blocked_ns));
  section.datum("queue_blocked_count", Value::count(honesty.queue_blocked_count));
  section.datum("overhead_removed_ns", Value::time(honesty.profiler_ns));
  section.datum("edges_by_origin", Value::object(std::move(origins)));
  section.datum("contradicted_edges", Value::count(honesty.contradicted_edges));
  section.datum("hand_overs", Value::count(honesty.hand_overs));
  section.datum("absolute_pins", Value::count(honesty.absolute_pins));
  section.datum("initial_backlog_ns", Value::time(honesty.initial_backlog_ns));
  section.datum("first_use_ns", Value::time(honesty.first_use_ns));
  section.datum("pre_window_operations", Value::count(honesty.pre_window_operations));
  section.datum("span_ns", Value::time(honesty.span_ns));
  section.datum("host_only_ns", Value::time(honesty.host_only_ns));
  if (replay != nullptr) {
    section.datum("device_x0_ns", Value::time(replay->reactions.device_x0_ns));
  }
  section.datum("device_busy_ns", Value::time(honesty.device_busy_ns));
  if (replay != nullptr) {
    section.datum("host_x0_ns", Value::time(replay->reactions.host_x0_ns));
    section.datum("device_half_ns", Value::time(replay->reactions.device_half_ns));
    section.datum("device_double_ns", Value::time(replay->reactions.device_double_ns));
  }
  section.datum("flags", Value::texts(honesty.flags));
  return section;
}

Value doubts_value(const std::vector<Doubt>& doubts) {
  Value::List texts;
  for (const Doubt& doubt : doubts) texts.push_back(Value::words(doubt.text));
  return Value::list(std::move(texts));
}

Value need_value(const std::optional<MemoryNeed>& need) {
  if (!need) {
    return Value::none();
  }
  return Value::object({{"rank", Value::plain(need->rank)},
                        {"device", Value::plain(need->device)},
                        {"live_peak_bytes", Value::bytes(need->live_bytes)},
                        {"reserved_bytes", Value::bytes(need->reserved_bytes())},
                        {"reserved_low_bytes", Value::bytes(need->reserved.low_bytes)},
                        {"reserved_high_bytes", Value::bytes(need->reserved.high_bytes)},
                        {"is_least", Value::flag(need->is_least)},
                        {"coverage", Value::share(need->coverage)}});
}

Value target_value(const MemoryTarget& target) {
  return Value::object({{"accelerator", Value::known_words(target.name)},
                        {"capacity_bytes", Value::bytes(target.capacity_bytes)},
                        {"context_low_bytes", Value::bytes(target.context_low_bytes)},
                        {"context_high_bytes", Value::bytes(target.context_high_bytes)}});
}

Value texts_by_name(const std::vector<std::pair<std::string, std::string>>& texts) {
  Value::Object members;
  for (const auto& [name, text] : texts) {
    members.push_back({name, Value::words(text)});
  }
  return Value::object(std::move(members));
}

}  // namespace foretrace::report
