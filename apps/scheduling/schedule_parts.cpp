#include "apps/scheduling/schedule_parts.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/scheduling/sources/job_table.h"
#include "models/hardware/catalogue/cells.h"
#include "models/hardware/catalogue/read_figures.h"
#include "sim/core/params.h"
#include "sim/core/whole.h"

namespace foretrace::scheduling {
namespace {

using ConfigKind = ConfigValue::Kind;
constexpr std::int64_t most_nodes = 1'000'000;

std::int64_t whole_number(ConfigFields& fields, std::string_view key, std::int64_t otherwise,
                          std::pair<std::int64_t, std::int64_t> range) {
  auto number = static_cast<double>(otherwise);
  fields.optional_quantity(key, ParamType::integer, number);
  if (number < static_cast<double>(range.first) || number > static_cast<double>(range.second)) {
    fields.mistake(key,
                   fmt::format("got {}, expected {} to {}", number, range.first, range.second));
    return otherwise;
  }
  return static_cast<std::int64_t>(number);
}

std::int64_t time(ConfigFields& fields, std::string_view key) {
  return to_whole(optional_within(fields, key, ParamType::time, longest_run_ns, 0));
}

KindId kind_of(Cluster& cluster, const std::string& name) {
  const auto known = kind_called(cluster, name);
  return known ? *known : cluster.kinds.push_back({.name = name});
}

void read_kinds(ConfigFields& fields, const Section& section, Cluster& cluster) {
  const ConfigValue* kinds = fields.optional_value("kinds");
  if (kinds == nullptr) return;
  if (kinds->kind != ConfigKind::list) return fields.mistake("kinds", "expected a list of objects");
  for (std::size_t i = 0; i < kinds->items.size(); ++i) {
    ConfigFields kind(kinds->items[i], section.file,
                      fmt::format("{}/kinds/{}", section.pointer, i));
    std::string name;
    kind.text("name", name);
    const KindId id = kind_of(cluster, name);
    double& price = cluster.kinds[id].price_per_hour;
    kind.optional_quantity("price_per_hour", ParamType::number, price);
    if (price < 0 || price > 1e9) {
      kind.mistake("price_per_hour", fmt::format("got {}, expected 0 to 1e9", price));
    }
    fields.take(kind.finish());
  }
}

// A table given in place or by file, with these columns.
struct TableKind {
  KnownColumns columns;
  std::function<Status(const Cells&)> use;
};

Status read_table(const TableKind& kind, const Section& at, std::vector<std::string>& files) {
  ConfigFields fields(*at.value, at.file, at.pointer);
  const auto cells = table_of(fields, kind.columns, files);
  FORETRACE_TRY(fields.finish());
  return cells ? kind.use(*cells) : Status(cells.error());
}

// One table, or a list of them.
Status each_table(const TableKind& kind, const Section& section, std::vector<std::string>& files) {
  if (section.value->kind != ConfigKind::list) return read_table(kind, section, files);
  for (std::size_t i = 0; i < section.value->items.size(); ++i) {
    const Section at{&section.value->items[i], section.file,
                     fmt::format("{}/{}", section.pointer, i)};
    FORETRACE_TRY(read_table(kind, at, files));
  }
  return ok_status();
}

}  // namespace

Status read_cluster(const Section& section, Cluster& cluster) {
  ConfigFields fields(*section.value, section.file, section.pointer);
  read_kinds(fields, section, cluster);
  // Where kinds are listed, those are all.
  std::vector<std::string> listed;
  for (std::size_t i = 0; i < cluster.kinds.size(); ++i) {
    listed.push_back(cluster.kinds[make_id<KindId>(i)].name);
  }
  const std::vector<std::string_view> known(listed.begin(), listed.end());
  const ConfigValue* nodes = fields.objects("nodes");
  for (std::size_t i = 0; nodes != nullptr && i < nodes->items.size(); ++i) {
    ConfigFields node(nodes->items[i], section.file,
                      fmt::format("{}/nodes/{}", section.pointer, i));
    std::string kind;
    node.text("kind", kind);
    if (!known.empty() && std::find(known.begin(), known.end(), kind) == known.end()) {
      node.mistake("kind", fmt::format("got '{}', expected one of {}{}", kind,
                                       fmt::join(known, ", "), did_you_mean(kind, known)));
    }
    Node read;
    read.kind = kind_of(cluster, kind);
    read.gpus = static_cast<std::int32_t>(whole_number(node, "gpus", 1, {0, most_gpus_per_node}));
    double cpus = 0;
    double memory = 0;
    node.optional_quantity("cpus", ParamType::number, cpus);
    node.optional_quantity("memory", ParamType::bytes, memory);
    read.cpu_milli = to_whole(std::clamp(cpus, 0.0, 1e9) * 1000);
    read.memory_mib = static_cast<std::int64_t>(std::clamp(memory, 0.0, 1e18) / (1 << 20));
    const std::int64_t count = whole_number(node, "count", 1, {0, most_nodes});
    fields.take(node.finish());
    if (static_cast<std::int64_t>(cluster.nodes.size()) + count > most_nodes) {
      fields.mistake("nodes", fmt::format("more than {} nodes", most_nodes));
      break;
    }
    for (std::int64_t n = 0; n < count; ++n) cluster.nodes.push_back(read);
  }
  return fields.finish();
}

Status read_throughput(const Section& section, Schedule& schedule) {
  const auto use = [&](const Cells& cells) {
    return add_rates(cells, schedule.cluster, schedule.workload, *schedule.throughput);
  };
  return each_table({rate_columns, use}, section, schedule.files);
}

Status read_jobs(const Section& section, Schedule& schedule) {
  constexpr std::array<std::pair<std::string_view, Status (*)(const Section&, Schedule&)>, 2>
      drawn = {{{"generate", &read_generator}, {"search", &read_search}}};
  for (const auto& [key, read] : drawn) {
    if (section.value->find(key) == nullptr) continue;
    ConfigFields fields(*section.value, section.file, section.pointer);
    const ConfigValue* value = fields.object(key);
    FORETRACE_TRY(fields.finish());
    return read({.value = value, .file = section.file, .pointer = fields.pointer_of(key)},
                schedule);
  }
  const auto use = [&](const Cells& cells) {
    return add_jobs(cells, schedule.cluster, schedule.workload, *schedule.throughput);
  };
  return each_table({job_columns, use}, section, schedule.files);
}

Status read_clock(const Section& section, RunOptions& options) {
  ConfigFields fields(*section.value, section.file, section.pointer);
  std::string decide = "events";
  fields.text("decide", decide);
  if (decide == "events") {
    options.clock = Clock::events;
  } else if (decide == "ticks") {
    options.clock = Clock::ticks;
  } else if (decide == "leases") {
    options.clock = Clock::leases;
  } else {
    const std::vector<std::string_view> known = {"events", "ticks", "leases"};
    fields.mistake("decide", fmt::format("got {}, expected events, ticks or leases{}",
                                         in_quotes(decide), did_you_mean(decide, known)));
  }
  options.period_ns = time(fields, "period");
  if (options.clock != Clock::events && options.period_ns <= 0) {
    fields.mistake("period", fmt::format("{}expected a time above 0 such as \"360 s\"",
                                         fields.has("period") ? "" : "missing key, "));
  }
  return fields.finish();
}

Status read_failures(const Section& section, const Cluster& cluster, RunOptions& options) {
  ConfigFields fields(*section.value, section.file, section.pointer);
  options.failures.mean_between_ns = time(fields, "mean_time_between");
  options.failures.repair_ns = time(fields, "repair");
  options.failures.seed =
      static_cast<std::uint64_t>(whole_number(fields, "seed", 0, {0, 1'000'000'000'000'000}));
  options.checkpoint_ns = time(fields, "checkpoint_every");
  const ConfigValue* outages = fields.optional_objects("outages");
  for (std::size_t i = 0; outages != nullptr && i < outages->items.size(); ++i) {
    ConfigFields one(outages->items[i], section.file,
                     fmt::format("{}/outages/{}", section.pointer, i));
    const auto last = static_cast<std::int64_t>(cluster.nodes.size()) - 1;
    Outage outage;
    outage.node =
        make_id<NodeId>(static_cast<std::size_t>(whole_number(one, "node", 0, {0, last})));
    outage.begin_ns = time(one, "from");
    outage.end_ns = time(one, "to");
    if (outage.end_ns <= outage.begin_ns) one.mistake("to", "expected a time after 'from'");
    fields.take(one.finish());
    options.outages.push_back(outage);
  }
  return fields.finish();
}

Status read_choice(const Section& section, Choice& choice) {
  if (section.value->kind == ConfigKind::text) {
    choice.name = section.value->text;
    return ok_status();
  }
  ConfigFields fields(*section.value, section.file, section.pointer);
  fields.text("name", choice.name);
  if (const ConfigValue* parameters = fields.optional_object("parameters"); parameters != nullptr) {
    for (std::size_t i = 0; i < parameters->keys.size(); ++i) {
      choice.settings.emplace_back(parameters->keys[i], parameters->items[i].text);
    }
  }
  return fields.finish();
}

}  // namespace foretrace::scheduling
