// What only the graph of a trace knows: threads, streams, and where device time goes.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "apps/report/pages/inspect.h"
#include "apps/report/sections/parts.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"

namespace foretrace::report::sections {
namespace {

std::string streams_text(const Inspection& found, const GraphFacts& facts) {
  std::string text = plural(facts.streams.size(), "stream");
  constexpr std::size_t most_named = 16;
  std::vector<std::int32_t> devices;  // in the order of their streams
  std::set<std::int32_t> seen;
  for (const StreamFacts& stream : facts.streams) {
    if (seen.insert(stream.device).second && devices.size() < most_named) {
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
  if (seen.size() > devices.size()) {
    text += fmt::format(", {} more devices", seen.size() - devices.size());
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
  for (const ThreadFacts& thread : facts.threads) {
    calls += thread.calls;
  }
  const std::string text =
      fmt::format("{}, {}", plural(facts.threads.size(), "thread"), plural(calls, "call"));
  return facts.honesty.span_ns == 0
             ? text
             : fmt::format("{} that matter; {} of work without any waits", text,
                           time_text(facts.honesty.host_only_ns, facts.honesty.span_ns));
}

/// Names with their device time; one of several tables that share their columns.
Table shares_table(std::string key, std::string title, const std::vector<Share>& shares,
                   std::int64_t whole) {
  Table table{.key = std::move(key),
              .title = std::move(title),
              .columns = {{"name"},
                          {"count", "", Show::never},
                          {"time_ns", "device time", Show::always, true},
                          {"", "share", Show::always, true},
                          {"", "operations", Show::always, true}},
              .longest = 8,
              .brief = 4};
  for (const Share& share : shares) {
    table.add({Value::words(share.name)
                   .as(share.name.empty() ? std::string("(none)") : function_text(share.name)),
               Value::count(share.count), Value::time(share.time_ns),
               Value::share(share_of(share.time_ns, whole)), Value::count(share.count)});
  }
  return table;
}

Section shares_section(const GraphFacts& facts) {
  Section section{.key = "device_time", .path = "graph", .scale_ns = facts.device_time_ns};
  const auto add = [&](const char* key, const char* title, const std::vector<Share>& shares,
                       Show show) {
    section.tables.push_back(shares_table(key, title, shares, facts.device_time_ns));
    section.tables.back().show = show;
  };
  if (facts.kinds.empty()) section.note("no GPU work was recorded");
  add("kinds", "by kind", facts.kinds, Show::always);
  add("phases", "by phase", facts.phases, Show::always);
  add("layers", "by layer", facts.layers, facts.layers.size() > 1 ? Show::details : Show::never);
  add("operators", "by operator", facts.operators,
      facts.operators.size() > 1 ? Show::details : Show::never);
  add("kernels", "by kernel", facts.kernels, Show::always);
  return section;
}

Table threads_table(const GraphFacts& facts) {
  Table table{.key = "threads",
              .columns = {{"number"}, {"name"}, {"calls"}, {"time_ns"}},
              .show = Show::never};
  for (const ThreadFacts& thread : facts.threads) {
    table.add({Value::plain(thread.number), Value::words(thread.name), Value::count(thread.calls),
               Value::time(thread.time_ns)});
  }
  return table;
}

Table streams_table(const GraphFacts& facts) {
  Table table{.key = "streams",
              .columns = {{"device"}, {"number"}, {"operations"}, {"time_ns"}},
              .show = Show::never};
  for (const StreamFacts& stream : facts.streams) {
    table.add({Value::plain(stream.device), Value::plain(stream.number),
               Value::count(stream.operations), Value::time(stream.time_ns)});
  }
  return table;
}

}  // namespace

Sections graph_facts(const InspectAnswer& answer) {
  if (!answer.found.graph) return {};
  const GraphFacts& facts = *answer.found.graph;
  Section rows{.key = "graph", .path = "graph"};
  rows.line("host", threads_text(facts));
  rows.line("device", streams_text(answer.found, facts));
  rows.line("graph", fmt::format("{}, {} dependencies", plural(facts.tasks, "task"),
                                 count_text(facts.dependencies)));
  for (const std::string& flag : facts.honesty.flags) {
    rows.facts.push_back(
        {{}, "warning", Value::words(flag).as(warning_text(flag)), Show::always, true});
  }
  rows.datum("tasks", Value::count(facts.tasks));
  rows.datum("dependencies", Value::count(facts.dependencies));
  Section rest{.key = "graph", .path = "graph"};
  rest.datum("device_time_ns", Value::time(facts.device_time_ns));
  rest.datum("device_busy_ns", Value::time(facts.honesty.device_busy_ns));
  rest.datum("host_only_ns", Value::time(facts.honesty.host_only_ns));
  rest.datum("warnings", Value::texts(facts.warnings));
  rest.tables.push_back(threads_table(facts));
  rest.tables.push_back(streams_table(facts));
  return {std::move(rows), steps_section("graph/measured", facts.steps, facts.answer),
          std::move(rest), shares_section(facts),
          honesty_section("graph/honesty", facts.honesty, nullptr)};
}

}  // namespace foretrace::report::sections
