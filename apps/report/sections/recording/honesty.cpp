// What the graph does not explain, what it rests on, and how it reacts to other speeds.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/pages/result.h"
#include "apps/report/sections/parts.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"

namespace foretrace::report::sections {
namespace {

using trace::Honesty;

/// The time of all ranks together, which their counters are shares of.
std::int64_t recorded_ns(const ResultAnswer& answer) {
  return answer.session.recording().built.honesty.span_ns * ranks_of(answer.session.graph());
}

struct Counter {
  std::string_view title;
  std::string_view key;  ///< of "KEY_ns" and "KEY_count" in documents
  std::int64_t time_ns = 0;
  std::optional<std::uint64_t> count{};
};

Row counter(const Counter& counted, const Honesty& honesty, std::int64_t whole_ns) {
  const std::string at = fmt::format("/honesty/{}", counted.key);
  const std::int64_t ranks = honesty.span_ns == 0 ? 1 : whole_ns / honesty.span_ns;
  return {.cells = {Value::words(counted.title), Value::time(counted.time_ns).from(at + "_ns"),
                    Value::share(share_of(counted.time_ns, whole_ns))
                        .from(fmt::format("{}_ns of /honesty/span_ns x{}", at, ranks)),
                    counted.count ? Value::count(*counted.count).from(at + "_count") : Value{}}};
}

Section unexplained_section(const Honesty& honesty, std::int64_t whole_ns) {
  const std::vector<Column> columns = {
      {"what"}, {"time_ns", "time"}, {"share", "of span"}, {"count", "count"}};
  Table open{.title = "without a recorded cause", .columns = columns};
  const auto row = [&](const Counter& counted) { return counter(counted, honesty, whole_ns); };
  open.rows = {row({"late kernels", "unexplained_device", honesty.unexplained_device_ns,
                    honesty.unexplained_device_count}),
               row({"blocked launch calls", "unexplained_launch", honesty.unexplained_launch_ns,
                    honesty.unexplained_launch_count})};
  const auto add = [&](Table& table, const Counter& counted) {
    if (counted.time_ns > 0) table.rows.push_back(row(counted));
  };
  add(open,
      {"GPU busy with unrecorded work at first", "initial_backlog", honesty.initial_backlog_ns});
  add(open, {"first use of kernels (module loading)", "first_use", honesty.first_use_ns});
  add(open, {"profiler overhead that stays in the times", "overhead_removed", honesty.profiler_ns});
  add(open, {"device graphs: work that was not recorded", "unrecorded_device",
             honesty.unrecorded_device_ns, honesty.unrecorded_device_count});
  Table taken{.title = "removed from recorded times", .columns = columns};
  add(taken, {"launches blocked by a full queue", "queue_blocked", honesty.queue_blocked_ns,
              honesty.queue_blocked_count});
  std::string origins;
  for (std::size_t i = 0; i < honesty.edges_by_origin.size(); ++i) {
    if (honesty.edges_by_origin[i] > 0) {
      origins += fmt::format("{}{} {}", origins.empty() ? "" : ", ",
                             count_text(honesty.edges_by_origin[i]), trace::edge_origin_names[i]);
    }
  }
  Section section{.key = "unexplained",
                  .tables = {std::move(open), std::move(taken)},
                  .scale_ns = honesty.span_ns,
                  .show = Show::details};
  section.note(fmt::format("dependencies between streams: {}; contradicted by the trace: {}",
                           origins.empty() ? "none" : origins,
                           count_text(honesty.contradicted_edges)));
  section.note(fmt::format(
      "hand-overs between threads: {}; operations from before the window: {}; absolute times kept: "
      "{}",
      count_text(honesty.hand_overs), count_text(honesty.pre_window_operations),
      count_text(honesty.absolute_pins)));
  return section;
}

struct Simulated {
  std::string_view key;  ///< in documents
  std::int64_t ns = 0;
};

/// A simulated span beside what the events say of it, where they say anything.
Row reaction(std::string_view title, const Simulated& simulated, const Simulated& expected,
             std::string_view what) {
  const std::string at = fmt::format("/honesty/{}", simulated.key);
  Row row{.cells = {Value::words(title), Value::time(simulated.ns).from(at)}};
  if (expected.ns > 0) {
    const std::string of = fmt::format("/honesty/{}", expected.key);
    row.cells.push_back(Value::time(expected.ns).from(of));
    row.cells.push_back(Value::change(change_of(simulated.ns, expected.ns)).from(at + " to " + of));
    row.cells.push_back(Value::words(what));
  } else if (!what.empty()) {
    row.cells.push_back(Value::none());  // that side was not recorded
  }
  return row;
}

Section reactions_section(const Honesty& honesty, const Reactions& reactions) {
  const std::int64_t scale = honesty.span_ns > 0
                                 ? honesty.span_ns
                                 : std::max({reactions.device_x0_ns, reactions.host_x0_ns,
                                             reactions.device_half_ns, reactions.device_double_ns});
  // Without recorded times there is nothing to expect anything from.
  const bool timed = honesty.span_ns > 0;
  Table table{.title = "reacts to",
              .columns = {{"what"},
                          {"span_ns", "span"},
                          {"expected_ns", "expected"},
                          {"error", "error"},
                          {"", ""}}};
  table.rows = {
      reaction("an infinitely fast GPU", {"device_x0_ns", reactions.device_x0_ns},
               {"host_only_ns", timed ? honesty.host_only_ns : 0},
               "against CPU time alone, from the events"),
      reaction("an infinitely fast CPU", {"host_x0_ns", reactions.host_x0_ns},
               {"device_busy_ns", timed ? honesty.device_busy_ns : 0},
               "against GPU busy time, from the events"),
      reaction("a GPU twice as fast", {"device_half_ns", reactions.device_half_ns}, {}, ""),
      reaction("a GPU half as fast", {"device_double_ns", reactions.device_double_ns}, {}, "")};
  return {
      .key = "reactions", .tables = {std::move(table)}, .scale_ns = scale, .show = Show::details};
}

/// The same in three lines.
Section trust_section(const Honesty& honesty, const Reactions& reactions, std::int64_t whole_ns) {
  Section section{.key = "trust", .title = "how trustworthy the graph is", .show = Show::brief};
  if (honesty.span_ns == 0) {
    section.note("the trace has no recorded times to check against");
    return section;
  }
  section.line("unexplained",
               fmt::format("late kernels: {} of the span; blocked launch calls: {}",
                           percent_text(share_of(honesty.unexplained_device_ns, whole_ns)),
                           percent_text(share_of(honesty.unexplained_launch_ns, whole_ns))));
  if (honesty.host_only_ns > 0) {
    section.line("fast device",
                 fmt::format("{} simulated if the GPU took no time, {} from the events ({})",
                             time_text(reactions.device_x0_ns), time_text(honesty.host_only_ns),
                             change_text(reactions.device_x0_ns, honesty.host_only_ns)));
  }
  if (honesty.device_busy_ns > 0) {
    section.line("fast host",
                 fmt::format("{} simulated if the CPU took no time, GPU busy for {} ({})",
                             time_text(reactions.host_x0_ns), time_text(honesty.device_busy_ns),
                             change_text(reactions.host_x0_ns, honesty.device_busy_ns)));
  }
  return section;
}

}  // namespace

Sections honesty(const ResultAnswer& answer) {
  const Honesty& honesty = answer.session.recording().built.honesty;
  Section section = honesty_section("honesty", honesty, &answer.session.replay());
  section.datum("doubt", doubts_value(all_doubts(answer)));
  return {std::move(section)};
}

Sections trust(const ResultAnswer& answer) {
  const Honesty& honesty = answer.session.recording().built.honesty;
  const std::int64_t whole_ns = recorded_ns(answer);
  return {trust_section(honesty, answer.session.replay().reactions, whole_ns),
          unexplained_section(honesty, whole_ns),
          reactions_section(honesty, answer.session.replay().reactions)};
}

}  // namespace foretrace::report::sections
