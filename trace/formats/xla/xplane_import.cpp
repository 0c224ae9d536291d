#include "trace/formats/xla/xplane_import.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/core/integers.h"
#include "trace/formats/common/nsys_names.h"
#include "trace/formats/xla/xla_names.h"
#include "trace/io/text.h"
#include "trace/table/linked_operator.h"

namespace foretrace::trace::formats {
namespace {

constexpr std::int64_t picoseconds = 1000;  // per ns
constexpr std::int64_t latest_ns = std::int64_t{1} << 60;

}  // namespace

EventKind XplaneImport::work_kind(const Timed& event) {
  if (!event.facts.copy.empty()) return EventKind::copy;
  return event.facts.set.empty() ? kind_of_work(event.metadata->name) : EventKind::set;
}

void XplaneImport::run(std::string_view bytes) {
  const XDamage damage = [this](std::string_view reason, std::uint64_t offset) {
    rows_.skip();
    rows_.drop(reason, {.table = "message", .number = 0, .offset = offset});
  };
  const XSpace space = space_of(bytes, damage);
  const std::vector<XPlane>& planes = space.planes;
  if (space.is_cut) {
    report_.ends_early = true;
    report_.warnings.push_back(fmt::format(
        "the file ends inside a plane, at byte {}: it and what follows are missing", bytes.size()));
  }
  for (const XPlane& plane : planes) {
    if (plane.name == "/host:metadata") {
      read_programs(plane, bytes, damage);
    }
  }
  // Devices first: their work says which operation a call launches.
  for (const XPlane& plane : planes) {
    if (plane.name.starts_with("/device:")) {
      read_device(plane);
    }
  }
  for (const XPlane& plane : planes) {
    if (plane.name.starts_with("/host:") && plane.name != "/host:metadata") {
      read_host(plane);
    } else if (plane.name == "Task Environment") {
      read_environment(plane);
    }
  }
  warn();
  rows_.finish();
}

XplaneImport::Facts XplaneImport::facts_of(const XPlane& plane,
                                           const std::vector<std::string_view>& stats,
                                           Facts facts) {
  for (const std::string_view message : stats) {
    const XStat stat = plane.stat(message);
    if (stat.name == "correlation_id") {
      facts.correlation = stat.number;
    } else if (stat.name == "step_num") {
      facts.step = stat.number;
    } else if (stat.name == "bytes_accessed") {
      facts.bytes = std::max<std::int64_t>(-1, stat.number);
    } else if (stat.name == "flops" || stat.name == "model_flops") {
      facts.flops = std::isfinite(stat.real) && stat.real >= 0 ? stat.real : -1;
    } else if (stat.name == "program_id") {
      facts.program = std::max<std::int64_t>(-1, stat.number);
    } else if (stat.name == "hlo_op") {
      facts.operation = stat.text;
    } else if (stat.name == "hlo_module") {
      facts.module = stat.text;
    } else if (stat.name == "tf_op") {
      facts.scope = stat.text;
    } else if (stat.name == "kernel_details") {
      facts.kernel = stat.text;
    } else if (stat.name == "memcpy_details") {
      facts.copy = stat.text;
    } else if (stat.name == "memset_details") {
      facts.set = stat.text;
    }
  }
  return facts;
}

std::vector<XplaneImport::Timed> XplaneImport::events_of(const XPlane& plane, const XLine& line) {
  std::vector<Timed> events;
  std::unordered_map<std::uint64_t, Facts> shared;  // of the metadata's own stats
  const XDamage damage = [this](std::string_view reason, std::uint64_t offset) {
    rows_.skip();
    rows_.drop(reason, {.table = "event", .number = 0, .offset = offset});
  };
  for_each_event(line, damage, [&](const XEvent& event) {
    // Sums over many occurrences have no time; marks have no duration.
    if (!event.duration_ps || !event.offset_ps) {
      rows_.skip();
      return;
    }
    const RowPlace place{.table = "event", .number = 0, .offset = event.offset};
    const auto metadata = plane.events.find(event.metadata);
    const std::int64_t start = *event.offset_ps / picoseconds;
    const std::int64_t duration = *event.duration_ps / picoseconds;
    const auto in_range = [](std::int64_t time) { return time > -latest_ns && time < latest_ns; };
    if (metadata == plane.events.end() || !in_range(line.timestamp_ns) || duration < 0) {
      rows_.skip();
      rows_.drop(metadata == plane.events.end() ? "event without a name" : "time out of range",
                 place);
      return;
    }
    const auto [facts, added] = shared.try_emplace(event.metadata);
    if (added) {
      facts->second = facts_of(plane, metadata->second.stats, {});
    }
    // Ends are rounded as starts are, so that neighbours stay neighbours.
    const std::int64_t rest = *event.offset_ps % picoseconds + *event.duration_ps % picoseconds;
    events.push_back({.metadata = &metadata->second,
                      .facts = facts_of(plane, event.stats, facts->second),
                      .start_ns = line.timestamp_ns + start,
                      .end_ns = line.timestamp_ns + start + duration + rest / picoseconds,
                      .place = place});
  });
  std::stable_sort(events.begin(), events.end(), [](const Timed& a, const Timed& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < events.size(); ++i) {
    while (!open.empty() && events[open.back()].end_ns <= events[i].start_ns) {
      open.pop_back();
    }
    if (!open.empty() && events[i].end_ns <= events[open.back()].end_ns) {
      events[open.back()].contains_others = true;
    }
    open.push_back(i);
  }
  return events;
}

/// Modules are named "jit_step(15917)"; where no number of the program is given, it is the one in
/// the name.
void XplaneImport::read_programs(const XPlane& plane, std::string_view bytes,
                                 const XDamage& damage) {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, metadata] : plane.events) {
    ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  for (const std::uint64_t id : ids) {
    const XEventMetadata& metadata = plane.events.at(id);
    std::string_view proto;
    std::int64_t number = program_number(metadata.name);
    for (const std::string_view message : metadata.stats) {
      const XStat stat = plane.stat(message);
      if (stat.name == "Hlo Proto" || stat.name == "hlo_proto") {
        proto = stat.text;
      } else if (stat.name == "program_id") {
        number = stat.number;
      }
    }
    if (!proto.empty()) {
      const auto offset = static_cast<std::uint64_t>(proto.data() - bytes.data());
      HloProgram program(read_hlo(proto, offset, damage));
      if (program.is_cut()) {
        damage("HLO: calls of calls run far more instructions than there are", offset);
      }
      programs_.add(metadata.name, number, std::move(program));
    }
  }
}

void XplaneImport::match(std::vector<Timed>& events) const {
  if (programs_.empty()) return;
  std::vector<HloKernel> kernels;
  kernels.reserve(events.size());
  for (const Timed& event : events) {
    kernels.push_back({.program = event.facts.program,
                       .module = event.facts.module,
                       .operation = event.facts.operation,
                       .name = event.metadata->name,
                       .launch = event.facts.correlation,
                       .is_set = work_kind(event) == EventKind::set});
  }
  const std::vector<const HloProgram::Step*> steps = match_kernels(programs_, kernels);
  for (std::size_t i = 0; i < events.size(); ++i) {
    events[i].step = steps[i];
  }
}

void XplaneImport::read_properties(const XPlane& plane, std::int32_t device) {
  DeviceProperties properties;
  properties.id = device;
  std::string_view vendor;
  std::string_view type;
  for (const std::string_view message : plane.stats) {
    const XStat stat = plane.stat(message);
    if (stat.name == "core_count") {
      properties.multiprocessors = clamped_int32(stat.number);
    } else if (stat.name == "memory_size") {
      properties.total_memory_bytes = std::max<std::int64_t>(0, stat.number);
    } else if (stat.name == "compute_cap_major") {
      properties.compute_major = clamped_int32(stat.number);
    } else if (stat.name == "compute_cap_minor") {
      properties.compute_minor = clamped_int32(stat.number);
    } else if (stat.name == "device_vendor") {
      vendor = stat.text;
    } else if (stat.name == "device_type_string" || stat.name == "gpu_device_name") {
      type = stat.text;
    }
  }
  table_.info.is_hip = table_.info.is_hip || vendor == "AMD";
  properties.name = with_valid_utf8(type);
  if (listed_.insert(device).second) {
    table_.info.devices.push_back(properties);
  }
}

void XplaneImport::read_device(const XPlane& plane) {
  const bool is_gpu = plane.name.starts_with("/device:GPU:");
  const std::int64_t device =
      number_behind(plane.name, is_gpu ? "/device:GPU:" : "/device:TPU:", plane.id);
  read_properties(plane, clamped_int32(device));
  std::int64_t line_number = 0;
  for (const XLine& line : plane.lines) {
    const std::int64_t stream = stream_number(line.name);
    const bool is_work = stream >= 0 || (!is_gpu && line.name == "XLA Ops");
    const bool is_copy = !is_gpu && line.name == "Async XLA Ops";
    has_tpu_ = has_tpu_ || (stream < 0 && is_work);
    const TrackId track = is_work || is_copy
                              ? rows_.stream(0, device, stream >= 0 ? stream : line.id)
                              : rows_.other(device, line_number);
    rows_.name_track(track, line.name);
    ++line_number;
    std::vector<Timed> events = events_of(plane, line);
    if (is_work) {
      match(events);
    }
    for (const Timed& event : events) {
      const bool derived = !(is_work || is_copy) || (stream < 0 && event.contains_others);
      const EventKind kind = derived   ? EventKind::gpu_annotation
                             : is_copy ? EventKind::copy
                                       : work_kind(event);
      add_work(event, kind, track);
    }
  }
}

void XplaneImport::add_work(const Timed& event, EventKind kind, TrackId track) {
  const Facts& facts = event.facts;
  Descriptor descriptor;
  if (kind == EventKind::copy || kind == EventKind::set) {
    descriptor.bytes = facts.bytes;
  }
  apply({.kernel = facts.kernel, .copy = facts.copy, .set = facts.set}, descriptor);
  descriptor.flops = facts.flops;
  std::string text;
  const auto say = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) {
      text += fmt::format("{}\"{}\": \"{}\"", text.empty() ? "{" : ", ", key,
                          json_escaped(with_valid_utf8(value)));
    }
  };
  say("hlo_op", facts.operation);
  say("hlo_module", facts.module);
  say("tf_op", facts.scope);
  if (event.step != nullptr && kind == EventKind::kernel) {
    say("phase", to_string(event.step->phase));
    const HloProgram::Known& work = *event.step->known;
    descriptor.dims = table_.names.intern(work.dims);
    descriptor.types = table_.names.intern(work.types);
    descriptor.flops = descriptor.flops < 0 ? work.flops : descriptor.flops;
    text = with_captured(text.empty() ? text : text + "}", work.operator_name, {});
  } else if (!text.empty()) {
    text += "}";
  }
  if (!text.empty()) {
    descriptor.text = table_.names.intern(text);
  }
  const bool added =
      rows_.add({.kind = kind,
                 .name = rows_.intern(plain_copy_name(event.metadata->name), event.place),
                 .track = track,
                 .start_ns = event.start_ns,
                 .end_ns = event.end_ns,
                 .scope = 0,
                 .correlation = kind == EventKind::gpu_annotation ? 0 : facts.correlation,
                 .descriptor = rows_.intern(descriptor)},
                event.place);
  if (!added || kind == EventKind::gpu_annotation) return;
  ++work_;
  if (facts.correlation > 0 && !facts.operation.empty()) {
    const NameId operation = rows_.intern(instruction_name(facts.operation), event.place);
    const auto [known, is_new] = operation_of_.try_emplace(facts.correlation, operation);
    if (!is_new && known->second != operation) {
      known->second = none<NameId>;  // one call, several operations: a graph
    }
  }
}

void XplaneImport::read_host(const XPlane& plane) {
  for (const XLine& line : plane.lines) {
    const TrackId track = rows_.thread(0, line.id);
    rows_.name_track(track, line.display_name.empty() ? line.name : line.display_name);
    for (const Timed& event : events_of(plane, line)) {
      const std::string_view name = event.metadata->name;
      if (is_runtime_call(name) && event.facts.correlation > 0) {
        add_call(event, track);
        continue;
      }
      EventRow row{.kind = EventKind::cpu_op,
                   .name = rows_.intern(name, event.place),
                   .track = track,
                   .start_ns = event.start_ns,
                   .end_ns = event.end_ns};
      if (event.facts.step >= 0) {
        row.kind = EventKind::user_annotation;
        row.name = table_.names.intern(fmt::format("ProfilerStep#{}", event.facts.step));
      } else if (name.starts_with("$")) {
        row.kind = EventKind::python_function;
      } else if (is_runtime_call(name)) {
        row.kind = EventKind::runtime;
      }
      rows_.add(row, event.place);
    }
  }
}

// XLA launches compiled operations: the one of the launched kernel is the operator around the call.
void XplaneImport::add_call(const Timed& event, TrackId track) {
  NameId operation{};
  if (!event.facts.operation.empty()) {
    operation = rows_.intern(instruction_name(event.facts.operation), event.place);
  } else if (const auto known = operation_of_.find(event.facts.correlation);
             known != operation_of_.end() && known->second != none<NameId>) {
    operation = known->second;
  }
  EventRow row{.kind = EventKind::cpu_op,
               .name = operation,
               .track = track,
               .start_ns = event.start_ns,
               .end_ns = event.end_ns};
  if (operation != NameId{}) {
    rows_.add(row, event.place);
  }
  const std::string_view name = plain_api_name(event.metadata->name);
  row.kind = EventKind::runtime;
  row.name = rows_.intern(name, event.place);
  row.correlation = event.facts.correlation;
  table_.info.is_hip = table_.info.is_hip || name.starts_with("hip");
  launches_ += rows_.add(row, event.place) ? 1 : 0;
}

void XplaneImport::read_environment(const XPlane& plane) {
  for (const std::string_view message : plane.stats) {
    const XStat stat = plane.stat(message);
    if (stat.name == "profile_start_time") {
      constexpr std::int64_t latest = std::int64_t{1} << 61;
      table_.info.base_time_ns = std::clamp<std::int64_t>(stat.number, 0, latest);
    }
  }
}

void XplaneImport::warn() {
  std::sort(table_.info.devices.begin(), table_.info.devices.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  if (work_ > 0 && launches_ == 0) {
    report_.warnings.emplace_back(
        "no launch calls are recorded: device work keeps its recorded gaps, so CPU what-ifs have "
        "no effect");
  }
  if (has_tpu_) {
    report_.warnings.emplace_back(
        "a TPU has no streams: operations of the line \"XLA Ops\" count as device work");
  }
}

}  // namespace foretrace::trace::formats
