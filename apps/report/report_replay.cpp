// The page of `simulate`.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/report.h"
#include "apps/report/report_parts.h"
#include "apps/report/style.h"
#include "apps/report/text.h"

namespace foretrace::app {
namespace {

using driver::Replay;

std::string span_text(const Replay& replay) {
  if (replay.measured.span_ns == 0) {
    return fmt::format("{} simulated", time_text(replay.run.steps.span_ns));
  }
  return fmt::format("{} measured, {} simulated ({})", time_text(replay.measured.span_ns),
                     time_text(replay.run.steps.span_ns, replay.measured.span_ns),
                     signed_percent_text(replay.span_error));
}

std::string steps_text(const Replay& replay) {
  const driver::StepAnswer& answer = replay.measured_answer;
  if (answer.is_span) {
    return "none recorded, the span counts as one";
  }
  std::string text = fmt::format(
      "{}, error at worst {}; host period {}", plural(replay.measured.host_ns.size(), "step"),
      signed_percent_text(replay.worst_step_error), time_text(answer.host_ns, answer.step_ns));
  if (answer.device_ns >= 0) {
    text += fmt::format(", device period {}", time_text(answer.device_ns, answer.step_ns));
  }
  if (answer.left_out > 0) {
    text += fmt::format(", {} left out (cut off or empty)", answer.left_out);
  }
  switch (answer.limit) {
    case driver::StepLimit::host: break;
    case driver::StepLimit::device_period:
      return text + " (the host runs ahead: the device limits)";
    case driver::StepLimit::device_work: return text + " (the work of the device limits)";
    case driver::StepLimit::device_end: return text + " (the step ends with its device work)";
  }
  return text;
}

std::string all_steps_table(const Replay& replay) {
  Table table({left, right, right, right, right, right});
  table.row({strong("step"), "measured", "simulated", "error", "device period", "simulated"});
  const std::int64_t scale = replay.measured_answer.step_ns;
  const auto device = [scale](const driver::StepTimes& times, std::size_t i) {
    const bool known = i < times.device_ns.size() && times.device_ns[i] >= 0;
    return known ? time_text(times.device_ns[i], scale) : std::string("-");
  };
  for (std::size_t i = 0; i < replay.measured.host_ns.size(); ++i) {
    const std::int64_t measured = replay.measured.host_ns[i];
    const std::int64_t simulated = replay.run.steps.host_ns[i];
    table.row({fmt::format("  {}", replay.measured.numbers[i]), time_text(measured, scale),
               time_text(simulated, scale),
               signed_percent_text(share_of(simulated - measured, measured)),
               device(replay.measured, i), device(replay.run.steps, i)});
  }
  return table.text(0) + "\n";
}

std::string breakdown_table(const Replay& replay, const driver::Analysis& analysis) {
  const std::int64_t step = replay.run.answer.step_ns;
  Table table({left, right, right});
  table.row({strong(replay.run.answer.is_span ? "where the span goes" : "where the step goes"),
             "time", "share"});
  for (const BreakdownPart& part : parts_of(analysis.breakdown)) {
    if (part.time_ns != 0) {
      table.row({fmt::format("  {}", part.title), time_text(part.time_ns, step),
                 percent_text(share_of(part.time_ns, step))});
    } else if (part.title == title_of_waiting && !analysis.free_waiting_ns &&
               analysis.breakdown.communication_exposed_ns > 0) {
      // Collectives that were matched with no other rank's hold it.
      table.row({fmt::format("  {}", part.title), "unknown", "in the above"});
    }
  }
  std::string text = table.text(0);
  if (analysis.free_transfers_ns) {
    text +=
        paragraph("  ", fmt::format("communication covered by computation: {}; if collectives "
                                    "took no time the step were {} shorter",
                                    time_text(analysis.breakdown.communication_overlapped_ns, step),
                                    time_text(*analysis.free_transfers_ns, step)));
  }
  if (analysis.free_waiting_ns) {
    text +=
        paragraph("  ", fmt::format("if no rank waited for a later one the step were {} shorter",
                                    time_text(*analysis.free_waiting_ns, step)));
  }
  return text + "\n";
}

}  // namespace

std::string replay_headline(const Replay& replay) {
  const std::int64_t measured = replay.measured_answer.step_ns;
  if (measured == 0) {
    return fmt::format("{} {} simulated, the trace has no recorded times to compare with",
                       replay.run.answer.is_span ? "span" : "step",
                       time_text(replay.run.answer.step_ns));
  }
  return fmt::format("{} {} measured, {} simulated ({})",
                     replay.measured_answer.is_span ? "span" : "step", time_text(measured),
                     time_text(replay.run.answer.step_ns, measured),
                     signed_percent_text(replay.error));
}

std::string replay_page(const driver::Recording& recording, const Replay& replay,
                        const driver::Analysis& analysis, bool all_steps) {
  std::string page = strong(replay_headline(replay)) + "\n\n";
  page += row("trace", trace_text(recording));
  page += row("steps", steps_text(replay)) + row("span", span_text(replay));
  page += row("graph", graph_text(recording.graph()));
  page += memory_rows(analysis) + tensors_row(recording.built) +
          flag_rows(recording.built.honesty) + "\n";
  if (all_steps && !replay.measured_answer.is_span) {
    page += all_steps_table(replay);
  }
  page += ranks_table(recording, replay);
  page += breakdown_table(replay, analysis);
  return page + honesty_table(recording.built.honesty) + "\n" +
         reactions_table(recording.built.honesty, replay.reactions);
}

}  // namespace foretrace::app
