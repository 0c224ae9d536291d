// Parts that several pages share.
#include "apps/report/report_parts.h"

#include <algorithm>

#include <fmt/format.h>

#include "apps/report/report.h"
#include "apps/report/style.h"

namespace foretrace::app {

double share_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string change_text(std::int64_t after, std::int64_t before) {
  return signed_percent_text(share_of(after - before, before));
}

std::string row(std::string_view title, std::string_view text) {
  return paragraph(fmt::format("  {:<9} ", title), text);
}

std::string trace_text(const driver::Recording& recording) {
  const trace::ImportReport& report = recording.report;
  std::string text =
      recording.job == nullptr
          ? fmt::format("{}, {}", file_name(recording.path), plural(report.events, "event"))
          : fmt::format("{} ({}), {}", plural(recording.job->ranks.size(), "rank"),
                        file_name(recording.path), plural(report.events, "event"));
  if (report.dropped() > 0) {
    text += fmt::format(", {} dropped", count_text(report.dropped()));
  }
  if (!recording.accelerator_note.empty()) {
    return text + "; " + recording.accelerator_note;
  }
  return text + ", " +
         (recording.accelerator ? recording.accelerator->product : "accelerator not known");
}

std::string graph_text(const TaskGraph& graph) {
  return fmt::format("{}, {} dependencies", plural(graph.size(), "task"),
                     count_text(graph.topology().dependency_count()));
}

std::vector<BreakdownPart> parts_of(const Breakdown& breakdown) {
  return {{"device computes", breakdown.compute_ns},
          {"device copies", breakdown.memory_copy_ns},
          {"communication not covered", breakdown.communication_exposed_ns},
          {title_of_waiting, breakdown.communication_waiting_ns},
          {"device waits for the host", breakdown.host_bound_ns},
          {"latencies and gaps", breakdown.idle_ns}};
}

std::string provenance_text(const driver::Analysis& analysis) {
  std::string text;
  for (std::size_t i = 0; i < analysis.provenance.size(); ++i) {
    if (analysis.provenance[i] != 0) {
      text +=
          fmt::format("{}{} {}", text.empty() ? "" : ", ", to_string(static_cast<Provenance>(i)),
                      percent_text(analysis.provenance[i]));
    }
  }
  return text;
}

std::string tensors_row(const trace::BuiltGraph& built) {
  return built.memory_note.empty() ? std::string() : row("source", built.memory_note);
}

std::string memory_rows(const driver::Analysis& analysis) {
  std::string rows;
  for (const MemoryCurve& curve : analysis.memory) {
    rows += row("memory", fmt::format("device {}: at most {} allocated, {} of it before the trace "
                                      "began",
                                      curve.device, bytes_text(curve.peak_bytes),
                                      bytes_text(curve.base_bytes)));
  }
  for (const driver::ReservedRange& range : analysis.reserved) {
    rows += row("reserved",
                fmt::format("{} expected, between {} and {}{}", bytes_text(range.expected_bytes),
                            bytes_text(range.low_bytes), bytes_text(range.high_bytes),
                            range.recorded_bytes < 0
                                ? std::string()
                                : fmt::format(" ({} recorded)", bytes_text(range.recorded_bytes))));
  }
  return rows;
}

std::string signed_bytes_text(std::int64_t bytes) {
  if (bytes == 0) {
    return "same";
  }
  return (bytes < 0 ? "-" : "+") + bytes_text(bytes < 0 ? -bytes : bytes);
}

std::string flag_rows(const trace::Honesty& honesty) {
  std::string rows;
  for (const std::string& flag : honesty.flags) {
    rows += row("flag", warning_colour(flag));
  }
  return rows;
}

std::string with_doubt(std::string answer, const driver::Replay& replay) {
  if (replay.doubts.empty()) {
    return answer;
  }
  const std::size_t end = std::min(answer.find('\n'), answer.size());
  const std::string brief = ", doubtful: " + replay.doubts.front().brief;
  const bool is_page = answer.find('\n', end + 1) != std::string::npos;
  if (!is_page) {
    return answer.insert(end, brief);
  }
  const bool has_room = end + brief.size() <= page_width;
  std::string reasons = "\n";
  for (const driver::Doubt& doubt : replay.doubts) {
    reasons += paragraph("  doubtful: ", doubt.text);
  }
  reasons.pop_back();
  answer.insert(end, reasons);
  return answer.insert(end, warning_colour(has_room ? brief : ", doubtful"));
}

std::string honesty_table(const trace::Honesty& honesty) {
  const std::int64_t span = honesty.span_ns;
  Table table({left, right, right, right});
  const auto counter = [&](std::string_view title, std::int64_t time, const std::string& count) {
    table.row({fmt::format("  {}", title), time_text(time, span),
               percent_text(share_of(time, span)), count});
  };
  table.row({strong("what the graph does not explain"), "time", "of span", "count"});
  counter("device work that started late", honesty.unexplained_device_ns,
          count_text(honesty.unexplained_device_count));
  counter("launches that took long", honesty.unexplained_launch_ns,
          count_text(honesty.unexplained_launch_count));
  const auto found = [&](std::string_view title, std::int64_t time, const std::string& count) {
    if (time > 0) {
      counter(title, time, count);
    }
  };
  found("device busy with unrecorded work at first", honesty.initial_backlog_ns, "");
  found("first use of kernels (module loading)", honesty.first_use_ns, "");
  found("the profiler's own work, which stays in the times", honesty.profiler_ns, "");
  found("device graphs: work that was not recorded", honesty.unrecorded_device_ns,
        count_text(honesty.unrecorded_device_count));
  if (honesty.queue_blocked_ns > 0) {
    table.row({strong("what it took out of recorded times"), "", "", ""});
  }
  found("launches blocked by a full queue", honesty.queue_blocked_ns,
        count_text(honesty.queue_blocked_count));
  std::string origins;
  for (std::size_t i = 0; i < honesty.edges_by_origin.size(); ++i) {
    if (honesty.edges_by_origin[i] > 0) {
      origins += fmt::format("{}{} {}", origins.empty() ? "" : ", ",
                             count_text(honesty.edges_by_origin[i]), trace::edge_origin_names[i]);
    }
  }
  return table.text(0) +
         paragraph("  ", fmt::format("cross-stream edges: {}; contradicted by the trace: {}",
                                     origins.empty() ? "none" : origins,
                                     count_text(honesty.contradicted_edges))) +
         paragraph("  ", fmt::format("hand-overs between threads: {}; operations from before the "
                                     "window: {}; absolute times kept: {}",
                                     count_text(honesty.hand_overs),
                                     count_text(honesty.pre_window_operations),
                                     count_text(honesty.absolute_pins)));
}

std::string reactions_table(const trace::Honesty& honesty, const driver::Reactions& reactions) {
  // Without recorded times there is nothing to expect anything from.
  const std::int64_t span = honesty.span_ns > 0
                                ? honesty.span_ns
                                : std::max({reactions.device_x0_ns, reactions.host_x0_ns,
                                            reactions.device_half_ns, reactions.device_double_ns});
  Table table({left, right, right, left});
  table.row({strong("how it reacts"), "span", "expected", ""});
  const auto against = [&](std::string_view title, std::int64_t simulated, std::int64_t reference,
                           std::string_view what) {
    if (honesty.span_ns == 0 || reference == 0) {  // that side was not recorded
      table.row({fmt::format("  {}", title), time_text(simulated, span), "-", ""});
      return;
    }
    table.row({fmt::format("  {}", title), time_text(simulated, span), time_text(reference, span),
               fmt::format("{} {}", signed_percent_text(share_of(simulated - reference, reference)),
                           what)});
  };
  against("device infinitely fast", reactions.device_x0_ns, honesty.host_only_ns,
          "the host alone, from the events");
  against("host infinitely fast", reactions.host_x0_ns, honesty.device_busy_ns,
          "the device busy, from the events");
  table.row({"  device twice as fast", time_text(reactions.device_half_ns, span), "", ""});
  table.row({"  device half as fast", time_text(reactions.device_double_ns, span), "", ""});
  return table.text(0);
}

}  // namespace foretrace::app
