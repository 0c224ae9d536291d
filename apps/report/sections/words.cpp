#include "apps/report/sections/words.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "apps/report/text.h"
#include "apps/session/recording/modelled.h"
#include "sim/core/text.h"
#include "trace/annotate/flags.h"

namespace foretrace::report {
namespace {

/// Of a file or a folder, as a page shows it.
std::string name_of(std::string_view path) {
  return path == "-" ? std::string("standard input") : shorten(file_name_of(path), 60);
}

/// What a trace holds, in a few words.
std::string held_text(const Inspection& found) {
  if (found.memory) {
    return fmt::format("memory peak {} at {}{}", bytes_text(found.memory->peak_bytes),
                       time_text(found.memory->peak_at_ns),
                       found.memory->failed.empty() ? "" : ", then out of memory");
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
  const Ends ends = time_ends(*fastest, *slowest, facts.answer.step_ns);
  const std::string range = fmt::format("{} to {}", ends.low, ends.high);
  const std::string steps = plural(facts.steps.host_ns.size(), "step");
  const std::string step = time_text(facts.answer.step_ns);
  // The range is of the host; where the device limits, the step is no member of it.
  return facts.answer.device_limits()
             ? fmt::format("step {} measured ({}), host {} in {}", step,
                           to_string(facts.answer.limit), range, steps)
             : fmt::format("step {} measured, {} from {}", step, steps, range);
}

}  // namespace

double share_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

double change_of(std::int64_t after, std::int64_t before) {
  return share_of(after - before, before);
}

std::string change_text(std::int64_t after, std::int64_t before) {
  return signed_percent_text(change_of(after, before));
}

std::string trace_text(const Recording& recording) {
  if (recording.modelled != nullptr) {
    const Scenario& scenario = *recording.modelled->scenario;
    return fmt::format("{}: {} on {} x {}, never run{}", name_of(recording.path),
                       scenario.model->product, scenario.job.ranks(),
                       scenario.cluster->accelerator.product,
                       scenario.what_ifs.empty() ? "" : ", with the what-ifs of its file");
  }
  const trace::ImportReport& report = recording.report;
  const std::string name = name_of(recording.path);
  std::string text = recording.job == nullptr
                         ? fmt::format("{}, {}", name, plural(report.events, "event"))
                         : fmt::format("{} ({}), {}", plural(recording.job->ranks.size(), "rank"),
                                       name, plural(report.events, "event"));
  if (report.dropped() > 0) {
    text += fmt::format(", {} dropped", count_text(report.dropped()));
  }
  if (!recording.accelerator_note.empty()) {
    return text + "; " + recording.accelerator_note;
  }
  return text + ", " +
         (recording.accelerator ? recording.accelerator->product : "unknown accelerator");
}

std::string_view step_word(const StepAnswer& answer) { return answer.is_span ? "span" : "step"; }

// Steps that differ by less say the same.
constexpr double alike_share = 0.001;

std::string replay_text(const Replay& replay) {
  const std::int64_t measured = replay.measured_answer.step_ns;
  if (replay.modelled != nullptr) {
    const std::int64_t passes = replay.modelled->range.step_ns;
    const std::int64_t step = replay.run.answer.step_ns;
    const RangedStep range = around(replay.modelled->range, step);
    std::string text = fmt::format("step {}, between {} and {}", time_text(step),
                                   time_text(range.low_ns, step), time_text(range.high_ns, step));
    const auto whole = static_cast<double>(passes);
    if (std::abs(static_cast<double>(step) - whole) > alike_share * whole) {
      text += fmt::format("; {} of whole passes", time_text(passes, step));
    }
    return text;
  }
  if (!replay.has_measured()) {
    return fmt::format("{} {} simulated; the trace has no recorded times to compare with",
                       step_word(replay.run.answer), time_text(replay.run.answer.step_ns));
  }
  return fmt::format("{} {} {}, {} simulated ({})", step_word(replay.measured_answer),
                     time_text(measured), replay.is_given ? "as given" : "measured",
                     time_text(replay.run.answer.step_ns, measured),
                     signed_percent_text(replay.error));
}

std::string provenance_text(const Analysis& analysis) {
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

std::string target_text(const MemoryTarget& target) {
  return target.name.empty()
             ? bytes_text(target.capacity_bytes)
             : fmt::format("{} of {}", bytes_text(target.capacity_bytes), target.name);
}

std::string comparison_text(const MemoryTarget& target) {
  return fmt::format(
      "what a fresh process reserves (or the recorded one, if less) plus {} of driver context, "
      "against {}; the range is from live tensors plus {} of context to everything that the "
      "recorded process had cached",
      bytes_text(target.context_high_bytes), target_text(target),
      bytes_text(target.context_low_bytes));
}

std::string need_range_text(const MemoryTarget& target, const MemoryNeed& need) {
  return bytes_range_text(target.low_bytes(need), target.high_bytes(need));
}

std::string inspect_headline(const Inspection& found) {
  constexpr std::size_t least_name = 24;
  const std::string text = held_text(found);
  const std::size_t room = page_width - std::min(page_width, text.size() + 2);
  return shorten(name_of(found.path), std::max(least_name, room)) + ": " + text;
}

Section trace_section(const Recording& recording) {
  Section section{.key = "trace"};
  section.line(recording.modelled != nullptr ? "scenario" : "trace", trace_text(recording));
  return section;
}

Section replay_section(const Replay& replay) {
  Section section{.key = "replay_row"};
  section.line(replay.modelled != nullptr ? "modelled" : "replay", replay_text(replay));
  return section;
}

std::string warning_text(std::string_view flag) {
  // Behind the rank of a job, or alone.
  constexpr std::pair<std::string_view, std::string_view> sentences[] = {
      {"initial backlog", "recording began with GPU work already queued"},
      {"late device work", "kernels start late: see unexplained"},
      {"shared device", "another program may use the GPU"},
      {trace::flags::first_use, "kernels are loaded or compiled: record after a warm-up"},
      {trace::flags::missing_records, "waits between streams were not recorded"},
      {"no recorded starts", "no start times were recorded: order follows from dependencies"}};
  for (const auto& [words, sentence] : sentences) {
    if (!flag.ends_with(words)) continue;
    return std::string(flag.substr(0, flag.size() - words.size())) + std::string(sentence);
  }
  return std::string(flag);
}

Section flags_section(const trace::BuiltGraph& built) {
  Section section{.key = "flags"};
  section.line("tensors", built.memory_note.substr(0, built.memory_note.find(", ")), Show::brief);
  section.line("tensors", built.memory_note, Show::details);
  for (const std::string& flag : built.honesty.flags) {
    section.facts.push_back(
        {{}, "warning", Value::words(flag).as(warning_text(flag)), Show::always, true});
  }
  return section;
}

}  // namespace foretrace::report
