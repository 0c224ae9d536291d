// What was recorded: format, machine, damage, nodes, memory over time.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/pages/inspect.h"
#include "apps/report/sections/parts.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"

namespace foretrace::report::sections {
namespace {

/// The devices of the machine: equal ones are counted.
std::string devices_text(const std::vector<trace::DeviceProperties>& devices) {
  std::vector<std::pair<std::string, std::size_t>> kinds;
  for (const trace::DeviceProperties& device : devices) {
    std::string text = device.name.empty() ? "a device without a name" : device.name;
    if (device.multiprocessors > 0) {
      text += fmt::format(" with {} multiprocessors", device.multiprocessors);
    }
    if (device.compute_major > 0) {
      text += fmt::format(", compute {}.{}", device.compute_major, device.compute_minor);
    }
    const auto known = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const auto& kind) { return kind.first == text; });
    if (known == kinds.end()) {
      kinds.emplace_back(text, 1);
    } else {
      ++known->second;
    }
  }
  std::string text;
  for (const auto& [kind, count] : kinds) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", count, kind);
  }
  return text;
}

std::string environment_text(const trace::TraceInfo& info) {
  std::string text;
  for (const auto& [key, value] : info.environment) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", key, value);
  }
  return text;
}

std::string damage_text(const trace::ImportReport& report) {
  if (report.damage.empty()) {
    return "nothing dropped, nothing repaired";
  }
  std::string text;
  for (const trace::Damage& damage : report.damage) {
    // Formats of tables have no offset: their example says which row.
    const std::string first =
        damage.first_offset == 0 ? fmt::format("first: {}", damage.example)
                                 : fmt::format("first at byte {}", count_text(damage.first_offset));
    text += fmt::format("{}{} {}: {} ({})", text.empty() ? "" : "; ", count_text(damage.count),
                        damage.kind == trace::DamageKind::dropped ? "dropped" : "repaired",
                        damage.reason, first);
  }
  return text;
}

std::string format_text(const Inspection& found) {
  std::string text = fmt::format("{}, {}", found.info.format, plural(found.report.events, "event"));
  if (found.report.bytes > 0) {
    text += fmt::format(", {:.1f} MB", static_cast<double>(found.report.bytes) / 1e6);
  }
  if (found.info.rank >= 0) {
    text += found.info.world_size > 0
                ? fmt::format(", rank {} of {}", found.info.rank, found.info.world_size)
                : fmt::format(", rank {}", found.info.rank);
  }
  if (found.info.resolution_ns > 1) {
    text += fmt::format(", times to {} ns",
                        count_text(static_cast<std::uint64_t>(found.info.resolution_ns)));
  }
  return text;
}

std::string nodes_text(const NodeFacts& facts) {
  std::string text =
      fmt::format("{}, {} of them on a device; {} data and {} control dependencies",
                  plural(facts.nodes, "node"), count_text(facts.on_device),
                  count_text(facts.data_dependencies), count_text(facts.control_dependencies));
  if (!facts.schema.empty()) {
    text = fmt::format("schema {}: ", facts.schema) + text;
  }
  text += facts.with_duration == 0
              ? std::string("; no durations")
              : fmt::format("; {} with a duration", count_text(facts.with_duration));
  if (facts.communications > 0) {
    text += fmt::format("; {} ({})", plural(facts.communications, "communication"),
                        bytes_text(facts.communicated_bytes));
  }
  return text;
}

Section nodes_section(const NodeFacts& facts) {
  Section section{.key = "nodes", .path = "nodes"};
  section.line("nodes", nodes_text(facts));
  section.line("tensors",
               fmt::format("{} in {} ({})", plural(facts.tensors, "tensor"),
                           plural(facts.storages, "storage"), bytes_text(facts.storage_bytes)));
  section.datum("schema", Value::words(facts.schema));
  section.datum("nodes", Value::count(facts.nodes));
  section.datum("on_device", Value::count(facts.on_device));
  section.datum("communications", Value::count(facts.communications));
  section.datum("communicated_bytes", Value::bytes(facts.communicated_bytes));
  section.datum("with_duration", Value::count(facts.with_duration));
  section.datum("data_dependencies", Value::count(facts.data_dependencies));
  section.datum("control_dependencies", Value::count(facts.control_dependencies));
  section.datum("tensors", Value::count(facts.tensors));
  section.datum("storages", Value::count(facts.storages));
  section.datum("storage_bytes", Value::bytes(facts.storage_bytes));
  return section;
}

}  // namespace

Sections inspected_trace(const InspectAnswer& answer) {
  const Inspection& found = answer.found;
  Section section{.key = "trace"};
  if (!answer.question.memory && !answer.question.modules) {
    section.headline = inspect_headline(found);
  }
  section.line("trace", format_text(found));
  section.line("import", damage_text(found.report),
               found.report.damage.empty() ? Show::details : Show::always);
  section.line("devices", devices_text(found.info.devices));
  section.line("recorded", environment_text(found.info), Show::details);
  section.line("linked", found.link);
  Value::Object kinds;
  for (std::size_t i = 0; i < found.events_by_kind.size(); ++i) {
    kinds.push_back({std::string(to_string(static_cast<trace::EventKind>(i))),
                     Value::count(found.events_by_kind[i])});
  }
  section.datum("events_by_kind", Value::object(std::move(kinds)));
  section.datum("memory_events", Value::count(found.memory_events));
  section.datum("sync_records", Value::count(found.sync_records));
  section.datum("flows", Value::count(found.flows));
  section.datum("span_ns", Value::time(found.span_ns));
  section.datum("no_graph", Value::known_words(found.no_graph));
  if (!found.info.environment.empty()) {
    section.datum("environment", texts_by_name(found.info.environment));
  }
  if (!found.link.empty()) {
    section.datum("link", Value::words(found.link));
  }
  if (!found.graph) {
    section.datum("graph", Value::none());
    if (!found.memory) section.line("graph", "none: " + found.no_graph);
  }
  return {input_section(found.path, found.info), import_section(found.report), std::move(section)};
}

Sections inspected_nodes(const InspectAnswer& answer) {
  if (!answer.found.nodes) return {};
  return {nodes_section(*answer.found.nodes)};
}

Sections events_by_name(const InspectAnswer& answer) {
  const Inspection& found = answer.found;
  if (found.names.empty()) return {};
  Section section{.key = "events_by_name", .scale_ns = found.span_ns};
  Table table{.key = "events_by_name",
              .title = "events by name",
              .columns = {{"name"}, {"time_ns", "time"}, {"count", "events"}},
              .longest = 8};
  for (const Share& share : found.names) {
    table.add({Value::words(share.name)
                   .as(share.name.empty() ? std::string("(none)") : function_text(share.name)),
               Value::time(share.time_ns), Value::count(share.count)});
  }
  section.tables.push_back(std::move(table));
  return {std::move(section)};
}

Sections memory_over_time(const InspectAnswer& answer) {
  if (!answer.found.memory) return {};
  const MemoryFacts& facts = *answer.found.memory;
  Section section{.key = "memory", .path = "memory"};
  section.line("memory", fmt::format("{} over {}", plural(facts.samples, "sample"),
                                     time_text(facts.span_ns)));
  if (facts.reserved_bytes >= 0) {
    section.line("reserved", fmt::format("{} at most", bytes_text(facts.reserved_bytes)));
  }
  section.datum("samples", Value::count(facts.samples));
  section.datum("span_ns", Value::time(facts.span_ns));
  section.datum("peak_bytes", Value::bytes(facts.peak_bytes));
  section.datum("peak_at_ns", Value::time(facts.peak_at_ns));
  section.datum("reserved_bytes", Value::known_bytes(facts.reserved_bytes));
  Table table{.key = "at_peak",
              .title = "at the peak",
              .columns = {{"", ""}, {"bytes", "bytes"}, {"", "share"}},
              .is_object = true};
  for (const auto& [category, bytes] : facts.at_peak) {
    table.rows.push_back({.cells = {Value::words(category), Value::bytes(bytes),
                                    Value::share(share_of(bytes, facts.peak_bytes))},
                          .key = category,
                          .show = bytes == 0 ? Show::never : Show::always});
  }
  section.tables.push_back(std::move(table));
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
