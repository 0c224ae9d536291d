// The page of `inspect`.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/report.h"
#include "apps/report/report_parts.h"
#include "apps/report/style.h"
#include "apps/report/text.h"

namespace foretrace::app {
namespace {

using driver::GraphFacts;
using driver::Inspection;
using driver::Share;

// Longer lists are cut; --json has them whole.
constexpr std::size_t longest_inspect_list = 8;

/// Names with their device time, in one table with the other lists of the page.
void add_shares(Table& table, std::string_view title, const std::vector<Share>& shares,
                const GraphFacts& facts) {
  table.row({strong(title), "", "", ""});
  const std::size_t shown = std::min(shares.size(), longest_inspect_list);
  Share rest;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const Share& share = shares[i];
    if (i < shown) {
      table.row({"  " + shorten(share.name.empty() ? "(none)" : function_text(share.name), 60),
                 time_text(share.time_ns, facts.device_time_ns),
                 percent_text(share_of(share.time_ns, facts.device_time_ns)),
                 count_text(share.count)});
    } else {
      rest.time_ns += share.time_ns;
      rest.count += share.count;
    }
  }
  if (shares.size() > shown) {
    table.row({fmt::format("  ... {} more", count_text(shares.size() - shown)),
               time_text(rest.time_ns, facts.device_time_ns),
               percent_text(share_of(rest.time_ns, facts.device_time_ns)), count_text(rest.count)});
  }
}

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

/// What was recorded of the machine and the program.
std::string recorded_text(const trace::TraceInfo& info) {
  std::string text = devices_text(info.devices);
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

std::string trace_text(const Inspection& found) {
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
    text += fmt::format(
        ", time resolution {}",
        fmt::format("{} ns", count_text(static_cast<std::uint64_t>(found.info.resolution_ns))));
  }
  return text;
}

std::string device_text(const Inspection& found, const GraphFacts& facts) {
  std::string text = plural(facts.streams.size(), "stream");
  std::vector<std::int32_t> devices;
  for (const driver::StreamFacts& stream : facts.streams) {
    if (std::find(devices.begin(), devices.end(), stream.device) == devices.end()) {
      devices.push_back(stream.device);
    }
  }
  for (const std::int32_t device : devices) {
    const auto known = std::find_if(found.info.devices.begin(), found.info.devices.end(),
                                    [&](const auto& candidate) { return candidate.id == device; });
    text += fmt::format(", device {}", device);
    if (known != found.info.devices.end() && !known->name.empty()) {
      text += fmt::format(" ({}, {})", known->name, bytes_text(known->total_memory_bytes));
    }
  }
  if (facts.honesty.span_ns == 0) {
    return text;
  }
  return text +
         fmt::format("; busy {} of {} ({})",
                     time_text(facts.honesty.device_busy_ns, facts.honesty.span_ns),
                     time_text(facts.honesty.span_ns),
                     percent_text(share_of(facts.honesty.device_busy_ns, facts.honesty.span_ns)));
}

std::string threads_text(const GraphFacts& facts) {
  std::uint64_t calls = 0;
  for (const driver::ThreadFacts& thread : facts.threads) {
    calls += thread.calls;
  }
  if (facts.honesty.span_ns == 0) {
    return fmt::format("{}, {}", plural(facts.threads.size(), "thread"), plural(calls, "call"));
  }
  return fmt::format("{}, {} that matter; {} of work if nothing waited",
                     plural(facts.threads.size(), "thread"), plural(calls, "call"),
                     time_text(facts.honesty.host_only_ns, facts.honesty.span_ns));
}

std::string graph_lines(const Inspection& found, const GraphFacts& facts) {
  std::string page = row("host", threads_text(facts)) + row("device", device_text(found, facts)) +
                     row("graph", fmt::format("{}, {} dependencies", plural(facts.tasks, "task"),
                                              count_text(facts.dependencies)));
  page += flag_rows(facts.honesty);
  if (facts.kinds.empty()) {
    return page + row("device", "no device work was recorded");
  }
  Table table({left, right, right, right});
  table.row({strong("device time"), strong("time"), strong("share"), strong("operations")});
  add_shares(table, "by kind", facts.kinds, facts);
  add_shares(table, "by phase", facts.phases, facts);
  if (facts.layers.size() > 1) {
    add_shares(table, "by layer", facts.layers, facts);
  }
  if (facts.operators.size() > 1) {
    add_shares(table, "by operator", facts.operators, facts);
  }
  add_shares(table, "by kernel", facts.kernels, facts);
  return page + "\n" + table.text(0);
}

std::string nodes_text(const driver::NodeFacts& facts) {
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

std::string names_table(const Inspection& found) {
  Table table({left, right, right});
  table.row({strong("events by name"), "time", "events"});
  const std::size_t shown = std::min(found.names.size(), longest_inspect_list);
  for (std::size_t i = 0; i < shown; ++i) {
    const Share& share = found.names[i];
    table.row({"  " + shorten(share.name.empty() ? "(none)" : function_text(share.name), 60),
               time_text(share.time_ns, found.span_ns), count_text(share.count)});
  }
  if (found.names.size() > shown) {
    table.row({fmt::format("  ... {} more", count_text(found.names.size() - shown)), "", ""});
  }
  return "\n" + table.text(0);
}

std::string memory_lines(const driver::MemoryFacts& facts) {
  Table table({left, right, right});
  table.row({strong("at the peak"), "bytes", "share"});
  for (const auto& [category, bytes] : facts.at_peak) {
    if (bytes != 0) {
      table.row({"  " + shorten(category, 60), bytes_text(bytes),
                 percent_text(share_of(bytes, facts.peak_bytes))});
    }
  }
  std::string lines = row("memory", fmt::format("{} over {}", plural(facts.samples, "sample"),
                                                time_text(facts.span_ns)));
  if (facts.reserved_bytes >= 0) {
    lines += row("reserved", fmt::format("{} at most", bytes_text(facts.reserved_bytes)));
  }
  return lines + "\n" + table.text(0);
}

/// What a trace holds, in a few words.
std::string headline_text(const Inspection& found) {
  if (found.memory) {
    return fmt::format("memory peak {} at {}", bytes_text(found.memory->peak_bytes),
                       time_text(found.memory->peak_at_ns));
  }
  if (found.nodes && (!found.graph || found.graph->answer.step_ns == 0)) {
    const std::string nodes = plural(found.nodes->nodes, "node");
    return found.graph                       ? nodes + ", no recorded starts to measure a span from"
           : found.nodes->with_duration == 0 ? nodes + ", no durations"
                                             : nodes + ", nothing to simulate";
  }
  if (!found.graph) {
    return plural(found.report.events, "event") + ", nothing to simulate";
  }
  const GraphFacts& facts = *found.graph;
  if (facts.answer.is_span) {
    return fmt::format("span {} measured, no steps recorded", time_text(facts.answer.step_ns));
  }
  const auto [fastest, slowest] =
      std::minmax_element(facts.steps.host_ns.begin(), facts.steps.host_ns.end());
  if (facts.steps.host_ns.size() == 1) {
    return fmt::format("step {} measured, the only one", time_text(facts.answer.step_ns));
  }
  return fmt::format("step {} measured, {} from {} to {}", time_text(facts.answer.step_ns),
                     plural(facts.steps.host_ns.size(), "step"),
                     time_text(*fastest, facts.answer.step_ns),
                     time_text(*slowest, facts.answer.step_ns));
}

}  // namespace

std::string file_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return shorten(slash == std::string::npos ? path : path.substr(slash + 1), 60);
}

std::string inspect_headline(const Inspection& found) {
  const std::string text = headline_text(found);
  constexpr std::size_t least_name = 24;
  const std::size_t room = page_width - std::min(page_width, text.size() + 2);
  return shorten(file_name(found.path), std::max(least_name, room)) + ": " + text;
}

std::string inspect_page(const Inspection& found) {
  std::string page = strong(inspect_headline(found)) + "\n\n" + row("trace", trace_text(found)) +
                     row("import", damage_text(found.report));
  if (const std::string text = recorded_text(found.info); !text.empty()) {
    page += row("recorded", text);
  }
  if (!found.link.empty()) {
    page += row("linked", found.link);
  }
  if (found.nodes) {
    page += row("nodes", nodes_text(*found.nodes));
    page += row("tensors", fmt::format("{} in {} ({})", plural(found.nodes->tensors, "tensor"),
                                       plural(found.nodes->storages, "storage"),
                                       bytes_text(found.nodes->storage_bytes)));
  }
  if (found.memory) {
    page += memory_lines(*found.memory);
  }
  if (found.graph) {
    return page + graph_lines(found, *found.graph);
  }
  if (!found.memory) {
    page += row("graph", "none: " + found.no_graph);
  }
  return found.names.empty() ? page : page + names_table(found);
}

}  // namespace foretrace::app
