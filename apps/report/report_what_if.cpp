// The page of a what-if: baseline beside prediction.
#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "apps/report/report.h"
#include "apps/report/report_parts.h"
#include "apps/report/style.h"
#include "apps/report/text.h"

namespace foretrace::app {
namespace {

using driver::Applied;
using driver::Prediction;
using driver::Replay;

double speedup_of(std::int64_t before, std::int64_t after) {
  return static_cast<double>(before) / static_cast<double>(std::max<std::int64_t>(1, after));
}

std::string noise_text(const Replay& replay) {
  return fmt::format("within the {} by which the recorded steps scatter: noise",
                     percent_text(replay.scatter));
}

bool is_noise(const Replay& replay, std::int64_t after) {
  const std::int64_t before = replay.run.answer.step_ns;
  return replay.scatter > 0 && std::abs(share_of(after - before, before)) <= replay.scatter;
}

std::string declared_range_text(std::int64_t low, std::int64_t high, std::int64_t scale) {
  return low == high ? std::string("none declared")
                     : fmt::format("{} .. {}", time_text(low, scale), time_text(high, scale));
}

std::string side_by_side(const PredictionParts& parts) {
  const Replay& replay = parts.replay;
  const Prediction& prediction = parts.prediction;
  const driver::StepAnswer& before = replay.run.answer;
  const driver::StepAnswer& after = prediction.run.answer;
  const std::int64_t scale = before.step_ns;
  Table table({left, right, right, right, left});
  table.row({"", strong("baseline"), strong("predicted"), strong("change"), strong("range")});
  const auto add = [&](std::string_view title, std::int64_t then, std::int64_t now,
                       const std::string& range) {
    table.row({fmt::format("  {}", title), time_text(then, scale), time_text(now, scale),
               change_text(now, then), range});
  };
  add(before.is_span ? "span" : "step", before.step_ns, after.step_ns,
      declared_range_text(prediction.low_ns, prediction.high_ns, scale));
  if (!before.is_span) {
    add("host period", before.host_ns, after.host_ns, "");
    if (before.device_ns >= 0 && after.device_ns >= 0) {
      add("device period", before.device_ns, after.device_ns, "");
    }
    add("whole span", replay.run.steps.span_ns, prediction.run.steps.span_ns, "");
  }
  table.row({before.is_span ? "of the span" : "of the step", "", "", "", ""});
  const std::vector<BreakdownPart> then = parts_of(parts.baseline.breakdown);
  const std::vector<BreakdownPart> now = parts_of(parts.predicted.breakdown);
  for (std::size_t i = 0; i < then.size(); ++i) {
    if (then[i].time_ns != 0 || now[i].time_ns != 0) {
      add(then[i].title, then[i].time_ns, now[i].time_ns, "");
    }
  }
  return table.text(0);
}

/// Peaks of device memory before and after, where anything is known of it.
std::string memory_side_by_side(const PredictionParts& parts) {
  const std::vector<MemoryCurve>& before = parts.baseline.memory;
  const std::vector<MemoryCurve>& after = parts.predicted.memory;
  if (before.empty() || before.size() != after.size()) {
    return {};
  }
  Table table({left, right, right, right});
  table.row({strong("device memory"), "now", "predicted", "change"});
  const auto add = [&](const std::string& title, std::int64_t then, std::int64_t now) {
    if (then != 0 || now != 0) {
      table.row({title, bytes_text(then), bytes_text(now), signed_bytes_text(now - then)});
    }
  };
  for (std::size_t i = 0; i < before.size(); ++i) {
    add(fmt::format("  device {}: peak allocated", before[i].device), before[i].peak_bytes,
        after[i].peak_bytes);
    for (std::size_t c = 0; c < tensor_category_count; ++c) {
      add(fmt::format("    of it {}", to_string(static_cast<TensorCategory>(c))),
          before[i].at_peak[c], after[i].at_peak[c]);
    }
    if (i < parts.baseline.reserved.size() && i < parts.predicted.reserved.size()) {
      add("  reserved, expected", parts.baseline.reserved[i].expected_bytes,
          parts.predicted.reserved[i].expected_bytes);
    }
  }
  std::string text = table.text(0);
  if (!parts.recording.built.memory_note.empty()) {
    text += paragraph("  ", parts.recording.built.memory_note);
  }
  return text + "\n";
}

std::string applied_text(const Applied& applied) {
  std::string parameters;
  for (const auto& [name, value] : applied.parameters) {
    parameters += fmt::format("{}{}={}", parameters.empty() ? "" : ", ", name, value);
  }
  std::string text =
      paragraph("  ", fmt::format("{}{}{}: {} changed", strong(applied.optimization->name),
                                  parameters.empty() ? "" : " ", parameters,
                                  plural(applied.tasks_changed, "task")));
  for (const std::string& note : applied.notes) {
    text += paragraph("    ", note);
  }
  return text;
}

std::string assumptions_text(const std::vector<Applied>& stack) {
  std::string text;
  std::vector<const OptimizationInfo*> seen;
  for (const Applied& applied : stack) {
    if (std::find(seen.begin(), seen.end(), applied.optimization) != seen.end()) {
      continue;
    }
    seen.push_back(applied.optimization);
    for (const std::string_view assumption : applied.optimization->assumptions) {
      text += paragraph("  - ", assumption);
    }
  }
  return text.empty() ? text : "\n" + strong("assumes") + "\n" + text;
}

}  // namespace

namespace {

std::string throughput_text(const driver::Throughput& throughput) {
  const std::string ratio = factor_text(throughput.ratio);
  return throughput.now ? fmt::format(", {:.4g} -> {:.4g} samples/s ({})", *throughput.now,
                                      *throughput.predicted, ratio)
                        : fmt::format(", samples/s {}", ratio);
}

/// The step that is predicted, whether or not it has room.
std::string step_line(const Replay& replay, const Prediction& prediction) {
  const std::int64_t before = replay.run.answer.step_ns;
  const std::int64_t after = prediction.run.answer.step_ns;
  std::string line =
      fmt::format("{} {} now, {} predicted ({}, {})", replay.run.answer.is_span ? "span" : "step",
                  time_text(before), time_text(after, before), change_text(after, before),
                  factor_text(speedup_of(before, after)));
  if (prediction.throughput) {
    line += throughput_text(*prediction.throughput);
  }
  if (prediction.low_ns != prediction.high_ns) {
    line += fmt::format(", between {} and {}", time_text(prediction.low_ns, before),
                        time_text(prediction.high_ns, before));
  }
  return line;
}

}  // namespace

std::string prediction_headline(const Replay& replay, const Prediction& prediction) {
  return prediction.fit && !prediction.fit->fits ? driver::text_of_misfit(*prediction.fit)
                                                 : step_line(replay, prediction);
}

std::string prediction_page(const PredictionParts& parts) {
  const Prediction& prediction = parts.prediction;
  const std::string headline = prediction_headline(parts.replay, prediction);
  std::string page =
      headline.size() <= page_width ? strong(headline) + "\n" : paragraph("", headline);
  if (prediction.fit && !prediction.fit->fits) {
    page += paragraph("  if it did: ", step_line(parts.replay, prediction));
  }
  if (is_noise(parts.replay, prediction.run.answer.step_ns)) {
    page += warning_colour(noise_text(parts.replay)) + "\n";
  }
  page += "\n" + row("trace", trace_text(parts.recording)) +
          row("replay", replay_headline(parts.replay)) +
          row("graph", graph_text(parts.recording.graph())) +
          row("rests on", provenance_text(parts.predicted) + " of the predicted critical path") +
          flag_rows(parts.recording.built.honesty) + "\n" + side_by_side(parts) + "\n" +
          memory_side_by_side(parts) + strong("applied") + "\n";
  for (const Applied& applied : prediction.applied) {
    page += applied_text(applied);
  }
  return page + assumptions_text(prediction.applied);
}

}  // namespace foretrace::app
