// The critical path of a step: what bounds it, and how much each part could give.
#include "apps/report/pages/critical_path.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/report/sections/parts.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"

namespace foretrace::report::sections {
namespace {

/// A share of the path in words.
struct Held {
  std::string_view by;
  std::string_view key;
  std::int64_t time_ns = 0;
};

std::vector<Held> held_by(const PathShares& shares) {
  return {{"CPU work", "host_ns", shares.host_ns},
          {"GPU work", "device_ns", shares.device_ns},
          {"network transfers", "network_ns", shares.network_ns},
          {"gaps between GPU operations", "gap_ns", shares.gap_ns},
          {"latencies", "latency_ns", shares.latency_ns},
          {"policy or contention", "unexplained_ns", shares.unexplained_ns}};
}

/// What held the path, most first.
std::vector<Held> sorted_held_by(const PathShares& shares) {
  std::vector<Held> held = held_by(shares);
  std::stable_sort(held.begin(), held.end(),
                   [](const Held& a, const Held& b) { return a.time_ns > b.time_ns; });
  return held;
}

/// "CPU-bound": what most of the path is.
std::string_view bound_by(std::string_view key) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"host_ns", "CPU-bound"},
      {"device_ns", "GPU-bound"},
      {"network_ns", "network-bound"},
      {"gap_ns", "bound by gaps"},
      {"latency_ns", "latency-bound"}};
  for (const auto& [of, word] : words) {
    if (key == of) return word;
  }
  return "bound by a policy or contention";
}

/// What a host does between its regions; Python where a trace has frames or names of it.
std::string_view between_regions(const Session& session) {
  const std::vector<trace::EventKind>& kinds = session.recording().events.kind;
  const NameTable& names = session.graph().names();
  bool is_python =
      std::find(kinds.begin(), kinds.end(), trace::EventKind::python_function) != kinds.end();
  for (std::size_t i = 0; i < names.size() && !is_python; ++i) {
    const std::string_view name = names[make_id<NameId>(i)];
    is_python = name.starts_with("ProfilerStep#") || name.starts_with("Optimizer.") ||
                name.starts_with("enumerate(DataLoader)");
  }
  return is_python ? "Python between regions" : "host between regions";
}

/// "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__" -> "DataLoader": how the framework
/// names its own regions says less than what is inside.
std::string region_text(std::string_view label) {
  constexpr std::string_view loader = "enumerate(";
  if (label.starts_with(loader)) {
    return std::string(label.substr(loader.size(), label.find(')') - loader.size()));
  }
  constexpr std::string_view engine = "autograd::engine::evaluate_function: ";
  if (label.starts_with(engine)) label.remove_prefix(engine.size());
  for (const std::string_view front : {"Optimizer.step#", "Optimizer.zero_grad#"}) {
    if (!label.starts_with(front)) continue;
    const std::string_view method =
        front.substr(front.find('.'), front.size() - front.find('.') - 1);
    std::string_view name = label.substr(front.size());
    name = name.substr(0, name.find('.'));
    return std::string(name) + std::string(method);
  }
  return function_text(label);
}

struct NamedTime {
  std::string name;
  std::int64_t time_ns = 0;
};

/// Regions of CPU time, or operators of GPU time (kernels without one), largest first.
std::vector<NamedTime> parts_of(const PathAnswer& answer, bool is_host_bound) {
  std::map<std::string, std::int64_t> times;
  if (is_host_bound) {
    for (const PathGroup& group : answer.report.regions) {
      const bool is_between = group.label.empty();
      times[is_between ? std::string(between_regions(answer.session)) : region_text(group.label)] +=
          group.on_path_ns;
    }
  } else {
    const TaskGraph& graph = answer.session.graph();
    for (const PathPiece& piece : answer.report.path.pieces) {
      if (piece.part == PathPart::duration && is_device(graph.kind(piece.task))) {
        const NameId called = graph.work(piece.task).operator_name;
        const std::string_view name =
            called == NameId{0} ? graph.name(piece.task) : graph.names()[called];
        times[region_text(name)] += piece.duration_ns;
      }
    }
  }
  std::vector<NamedTime> parts;
  parts.reserve(times.size());
  for (const auto& [name, time_ns] : times) parts.push_back({name, time_ns});
  std::stable_sort(parts.begin(), parts.end(), [](const NamedTime& one, const NamedTime& other) {
    return one.time_ns > other.time_ns;
  });
  return parts;
}

/// ": DataLoader 68.7 ms, SGD.step 16.1 ms".
std::vector<NamedTime> largest_parts(const PathAnswer& answer) {
  constexpr std::size_t most_parts = 2;
  constexpr double least_part = 0.02;  // of the path
  const std::string_view key = sorted_held_by(answer.report.path.shares).front().key;
  if (key != "host_ns" && key != "device_ns") return {};
  const std::int64_t total = answer.report.path.total_ns;
  std::vector<NamedTime> largest;
  for (NamedTime& part : parts_of(answer, key == "host_ns")) {
    if (largest.size() == most_parts || share_of(part.time_ns, total) < least_part) break;
    largest.push_back(std::move(part));
  }
  return largest;
}

std::string parts_text(const std::vector<NamedTime>& parts, std::int64_t total) {
  std::string text;
  for (const NamedTime& part : parts) {
    text += fmt::format("{}{} {}", text.empty() ? ": " : ", ", shorten(part.name, 32),
                        time_text(part.time_ns, total));
  }
  return text;
}

/// "step 5, 176.1 ms, is CPU-bound (98.7 %): DataLoader 68.7 ms, SGD.step 16.1 ms".
std::string path_headline(const PathAnswer& answer) {
  const PathReport& report = answer.report;
  const Held most = sorted_held_by(report.path.shares).front();
  const std::int64_t total = report.path.total_ns;
  const std::string where = report.held_by < 0 || report.held_by == report.rank
                                ? std::string()
                                : fmt::format("; most of it is on rank {}", report.held_by);
  return fmt::format("{}{}, {}, is {} ({}){}{}",
                     report.step_number < 0 ? std::string("the whole span")
                                            : fmt::format("step {}", report.step_number),
                     report.rank < 0 ? std::string() : fmt::format(" of rank {}", report.rank),
                     time_text(total), bound_by(most.key),
                     percent_text(share_of(most.time_ns, total)),
                     parts_text(largest_parts(answer), total), where);
}

Table shares_table(const PathReport& report) {
  Table table{.title = "bound by",
              .columns = {{"by"}, {"on_path_ns", "on path"}, {"share", "share"}}};
  for (const Held& held : sorted_held_by(report.path.shares)) {
    const std::string at = fmt::format("/shares/{}", held.key);
    table.rows.push_back({.cells = {Value::words(held.by), Value::time(held.time_ns).from(at),
                                    Value::share(share_of(held.time_ns, report.path.total_ns))
                                        .from(at + " of /total_ns")},
                          .show = held.time_ns == 0 ? Show::never : Show::always});
  }
  return table;
}

/// CPU time that a table of regions divides further.
bool is_host_segment(const PathGroup& group) {
  return group.part == PathPart::segment && group.label.find("host time of ") != std::string::npos;
}

Table groups_table(std::string key, std::string title, const std::vector<PathGroup>& groups,
                   std::int64_t total, bool regions_follow = false) {
  Table table{.key = std::move(key),
              .title = std::move(title),
              .columns = {{"name"},
                          {"part", "", Show::never},
                          {"on_path_ns", "on path"},
                          {"", "share"},
                          {"pieces", "pieces"},
                          {"tasks", "", Show::never},
                          {"gain_ns", "maximum saving"}},
              .brief = 3};
  for (const PathGroup& group : groups) {
    const std::string at = fmt::format("/{}/{}/on_path_ns", table.key, table.rows.size());
    const bool is_function = group.part == PathPart::duration;
    const std::string shown = group.label.empty() ? "outside every region"
                              : is_function       ? function_text(group.label)
                                                  : group.label;
    table.rows.push_back(
        {.cells = {Value::words(group.label).as(shown), Value::words(to_string(group.part)),
                   Value::time(group.on_path_ns),
                   Value::share(share_of(group.on_path_ns, total)).from(at + " of /total_ns"),
                   Value::count(group.pieces), Value::count(group.tasks),
                   Value::time(group.gain_ns)},
         .show = regions_follow && is_host_segment(group) ? Show::details : Show::always});
  }
  return table;
}

Table pieces_table(const TaskGraph& graph, const CriticalPath& path) {
  Table table{.key = "pieces",
              .columns = {{"task"},
                          {"name"},
                          {"kind"},
                          {"phase"},
                          {"layer"},
                          {"part"},
                          {"waits_for"},
                          {"begin_ns"},
                          {"duration_ns"}},
              .show = Show::never};
  for (const PathPiece& piece : path.pieces) {
    const std::string_view layer =
        graph.names()[graph.context().layers[index(graph.layer(piece.task))].name];
    table.add({Value::plain(index(piece.task)), Value::words(graph.name(piece.task)),
               Value::words(to_string(graph.kind(piece.task))),
               Value::words(to_string(graph.phase(piece.task))), Value::words(layer),
               Value::words(to_string(piece.part)), Value::words(to_string(piece.cause)),
               Value::time(piece.begin_ns), Value::time(piece.duration_ns)});
  }
  return table;
}

const auto as_time = [](std::int64_t ns) { return Value::time(ns); };

/// The profiler's work matters where the host holds more than this of the path.
bool is_host_on(const CriticalPath& path) {
  constexpr double host_matters_share = 0.1;
  return share_of(path.shares.host_ns, path.total_ns) > host_matters_share;
}

}  // namespace

Sections path_context(const PathAnswer& answer) {
  const Recording& recording = answer.session.recording();
  Section honesty = honesty_section("honesty", recording.built.honesty, &answer.session.replay());
  honesty.datum("doubt", doubts_value(answer.session.replay().doubts));
  return {input_section(recording.path, recording.events.info),
          steps_section("baseline", answer.session.run().steps, answer.session.run().answer),
          trace_section(recording),
          replay_section(answer.session.replay()),
          profiler_section(recording, is_host_on(answer.report.path)),
          flags_section(recording.built),
          std::move(honesty)};
}

Sections path_shares(const PathAnswer& answer) {
  const PathReport& report = answer.report;
  const CriticalPath& path = report.path;
  Section section{.key = "bound_by", .headline = path_headline(answer), .scale_ns = path.total_ns};
  section.line("path", plural(path.pieces.size(), "piece"), Show::details);
  section.datum("step", Value::known(report.step_number));
  section.datum("rank", Value::known(report.rank));
  section.datum("held_by_rank", Value::known(report.held_by));
  section.datum("begin_ns", Value::time(report.scope.begin_ns));
  section.datum("total_ns", Value::time(path.total_ns));
  Value::Object shares;
  for (const Held& held : held_by(path.shares)) {
    shares.push_back({std::string(held.key), Value::time(held.time_ns)});
  }
  section.datum("shares", Value::object(std::move(shares)));
  Value::Object largest;
  for (const NamedTime& part : largest_parts(answer)) {
    largest.push_back({part.name, Value::time(part.time_ns)});
  }
  section.datum("largest_parts_ns", Value::object(std::move(largest)));
  section.datum("provenance_ns", by_name<Provenance>(path.shares.provenance_ns, as_time));
  section.datum("kinds_ns", by_name<TaskKind>(path.shares.kind_ns, as_time));
  section.datum("latencies_ns", by_name<DependencyKind>(path.shares.cause_ns, as_time));
  section.tables.push_back(shares_table(report));
  return {std::move(section)};
}

Sections path_groups(const PathAnswer& answer) {
  const PathReport& report = answer.report;
  const std::int64_t total = report.path.total_ns;
  const bool has_regions = is_host_on(report.path) && !report.regions.empty();
  Section names{.key = "by_name", .scale_ns = total};
  names.tables.push_back(groups_table("groups", "by name", report.groups, total, has_regions));
  names.note(
      "maximum saving: simulated, if all of that kind took no time; another path then takes over, "
      "so savings do not add up");
  Section regions{
      .key = "by_region", .scale_ns = total, .show = has_regions ? Show::always : Show::details};
  regions.tables.push_back(
      groups_table("host_regions", "CPU time by region", report.regions, total));
  regions.tables.back().brief = 2;  // as many as the first line may name
  Section layers{.key = "by_layer", .scale_ns = total, .show = Show::details};
  layers.tables.push_back(groups_table("layers", "by layer", report.layers, total));
  return {std::move(regions), std::move(names), std::move(layers)};
}

Sections path_pieces(const PathAnswer& answer) {
  Section section{.key = "pieces", .show = Show::never};
  section.tables.push_back(pieces_table(answer.session.graph(), answer.report.path));
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
