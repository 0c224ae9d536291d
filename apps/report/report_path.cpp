// The page of `critical-path`.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/report.h"
#include "apps/report/report_parts.h"
#include "apps/report/style.h"
#include "apps/report/text.h"

namespace foretrace::app {
namespace {

using driver::PathReport;

/// A share of the path in words.
struct Held {
  std::string_view by;
  std::int64_t time_ns = 0;
};

/// What held the path, most first.
std::vector<Held> held_by(const PathShares& shares) {
  std::vector<Held> held = {
      {"device work", shares.device_ns},        {"host work", shares.host_ns},
      {"network transfers", shares.network_ns}, {"gaps between device operations", shares.gap_ns},
      {"latencies", shares.latency_ns},         {"policy or contention", shares.unexplained_ns}};
  std::stable_sort(held.begin(), held.end(),
                   [](const Held& a, const Held& b) { return a.time_ns > b.time_ns; });
  return held;
}

std::string scope_text(const PathReport& report) {
  const std::string rank =
      report.rank < 0 ? std::string() : fmt::format(" of rank {}", report.rank);
  return (report.step_number < 0 ? std::string("the whole span")
                                 : fmt::format("step {}", report.step_number)) +
         rank;
}

std::string groups_table(std::string_view title, const std::vector<PathGroup>& groups,
                         std::int64_t total) {
  Table table({left, right, right, right, right});
  table.row({strong(title), "on path", "share", "pieces", "could give"});
  for (const PathGroup& group : groups) {
    const std::string label = group.label.empty() ? "outside every region" : group.label;
    const bool is_function = group.part == PathPart::duration;
    table.row({"  " + shorten(is_function ? function_text(label) : label, 56),
               time_text(group.on_path_ns, total), percent_text(share_of(group.on_path_ns, total)),
               count_text(group.pieces), time_text(group.gain_ns, total)});
  }
  return table.text(0);
}

}  // namespace

std::string path_headline(const PathReport& report) {
  const Held most = held_by(report.path.shares).front();
  const std::int64_t total = report.path.total_ns;
  return fmt::format("critical path of {}: {}, {} of it {}", scope_text(report), time_text(total),
                     percent_text(share_of(most.time_ns, total)), most.by);
}

std::string path_page(const driver::Recording& recording, const driver::Replay& replay,
                      const PathReport& report) {
  const std::int64_t total = report.path.total_ns;
  std::string page = strong(path_headline(report)) + "\n\n" + row("trace", trace_text(recording)) +
                     row("replay", replay_headline(replay)) +
                     row("path", plural(report.path.pieces.size(), "piece")) +
                     flag_rows(recording.built.honesty) + "\n";
  Table table({left, right, right});
  table.row({strong("bound by"), "on path", "share"});
  for (const Held& held : held_by(report.path.shares)) {
    if (held.time_ns != 0) {
      table.row({fmt::format("  {}", held.by), time_text(held.time_ns, total),
                 percent_text(share_of(held.time_ns, total))});
    }
  }
  page += table.text(0) + "\n" + groups_table("by name", report.groups, total);
  if (!report.regions.empty()) {
    page += "\n" + groups_table("host time by region", report.regions, total);
  }
  if (!report.layers.empty()) {
    page += "\n" + groups_table("by layer", report.layers, total);
  }
  return page + paragraph("  ",
                          "could give: the step, simulated, if all of that kind took no time; "
                          "another path then takes over, so gains do not add up");
}

}  // namespace foretrace::app
