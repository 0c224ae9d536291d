// The recording beside its simulation: the step, the span, and every step if asked for.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/pages/result.h"
#include "apps/report/sections/parts.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"
#include "sim/result/steps/steps.h"

namespace foretrace::report::sections {
namespace {

std::string span_text(const Replay& replay) {
  if (replay.measured.span_ns == 0) {
    return fmt::format("{} simulated", time_text(replay.run.steps.span_ns));
  }
  return fmt::format("{} measured, {} simulated ({})", time_text(replay.measured.span_ns),
                     time_text(replay.run.steps.span_ns, replay.measured.span_ns),
                     signed_percent_text(replay.span_error));
}

std::string steps_text(const Replay& replay) {
  const StepAnswer& answer = replay.is_given ? replay.run.answer : replay.measured_answer;
  if (answer.is_span) {
    return "none recorded, the span counts as one";
  }
  std::string text = plural(replay.measured.host_ns.size(), "step");
  text += replay.is_given
              ? std::string(", simulated")
              : fmt::format(", at most {} off", signed_percent_text(replay.worst_step_error));
  text += fmt::format("; host period {}", time_text(answer.host_ns, answer.step_ns));
  if (answer.device_ns >= 0) {
    text += fmt::format(", device period {}", time_text(answer.device_ns, answer.step_ns));
  }
  if (answer.left_out > 0) {
    text += fmt::format(", {} left out (cut off or empty)", answer.left_out);
  }
  switch (answer.limit) {
    case StepLimit::host: break;
    case StepLimit::device_period: return text + " (the CPU runs ahead: GPU-bound)";
    case StepLimit::device_work: return text + " (GPU-bound)";
    case StepLimit::device_end: return text + " (the step ends with its GPU work)";
  }
  return text;
}

/// Silences that do not come again, longest first, whether or not they are left out.
std::string one_off_text(const Recording& recording) {
  if (recording.one_off.empty()) {
    return {};
  }
  std::vector<trace::Silence> silences = recording.one_off;
  std::stable_sort(silences.begin(), silences.end(), [](const auto& a, const auto& b) {
    return a.end_ns - a.begin_ns > b.end_ns - b.begin_ns;
  });
  std::string text = recording.without_one_off ? "left out: " : "";
  constexpr std::size_t shown = 3;
  for (std::size_t i = 0; i < std::min(shown, silences.size()); ++i) {
    const trace::Silence& silence = silences[i];
    text += fmt::format("{}{}{}", i == 0 ? "" : ", ", time_text(silence.end_ns - silence.begin_ns),
                        silence.name.empty() ? "" : " in " + shorten(silence.name, 40));
  }
  if (silences.size() > shown) {
    text += fmt::format(", {} more", silences.size() - shown);
  }
  return text;
}

Table one_off_table(const Recording& recording) {
  Table table{.key = "one_off",
              .columns = {{"begin_ns", ""}, {"duration_ns", ""}, {"name", ""}},
              .show = Show::never};
  for (const trace::Silence& silence : recording.one_off) {
    table.add({Value::time(silence.begin_ns), Value::time(silence.end_ns - silence.begin_ns),
               Value::words(silence.name)});
  }
  return table;
}

Table steps_table(const Replay& replay) {
  Table table{.title = "step",
              .columns = {{"step", "step"},
                          {"measured_ns", "measured"},
                          {"simulated_ns", "simulated"},
                          {"error", "error"},
                          {"measured_device_ns", "device period"},
                          {"simulated_device_ns", "simulated"}}};
  const auto device = [](const StepTimes& times, std::size_t i) {
    return Value::known_time(i < times.device_ns.size() ? times.device_ns[i] : -1);
  };
  for (std::size_t i = 0; i < replay.measured.host_ns.size(); ++i) {
    const std::int64_t measured = replay.measured.host_ns[i];
    const std::int64_t simulated = replay.run.steps.host_ns[i];
    const bool is_known = !replay.is_given;
    table.add({Value::words(std::to_string(replay.measured.numbers[i])),
               Value::known_time(is_known ? measured : -1), Value::time(simulated),
               is_known ? Value::change(change_of(simulated, measured)) : Value::known_time(-1),
               device(replay.measured, i), device(replay.run.steps, i)});
  }
  return table;
}

/// What was recorded of the steps; nothing of a job that was never run, and of a trace without times.
Section measured_section(const ResultAnswer& answer) {
  const Replay& replay = answer.session.replay();
  if (!replay.has_measured()) {
    Section nothing{.key = "", .show = Show::never};
    nothing.datum("measured", Value::none());
    return nothing;
  }
  Section measured = steps_section("measured", replay.measured, replay.measured_answer);
  measured.datum("scatter", Value::share(replay.scatter));
  measured.datum("is_given", Value::flag(replay.is_given));
  measured.datum("steps_note", Value::words(answer.session.recording().built.steps_note));
  measured.datum("without_one_off", Value::flag(answer.session.recording().without_one_off));
  measured.tables.push_back(one_off_table(answer.session.recording()));
  return measured;
}

}  // namespace

Sections replay(const ResultAnswer& answer) {
  const Replay& replay = answer.session.replay();
  const auto error = [&](double value) {
    return replay.has_measured() ? Value::change(value) : Value::none();
  };
  Section baseline = steps_section("baseline", replay.run.steps, replay.run.answer);
  baseline.datum("error", error(replay.error));
  baseline.datum("span_error", error(replay.span_error));
  baseline.datum("worst_step_error", error(replay.worst_step_error));
  return {measured_section(answer), std::move(baseline)};
}

Sections replay_page(const ResultAnswer& answer) {
  Section section{.key = "replay", .headline = replay_text(answer.session.replay())};
  const std::string& found = answer.session.recording().built.steps_note;
  section.line("steps",
               (found.empty() ? found : found + "; ") + steps_text(answer.session.replay()));
  section.line(
      "one-off", one_off_text(answer.session.recording()), Show::always,
      answer.session.recording().without_one_off ? "" : "; --without-one-off cuts them out");
  section.line("span", span_text(answer.session.replay()));
  return {std::move(section)};
}

Sections all_steps(const ResultAnswer& answer) {
  if (!answer.all_steps || answer.session.replay().measured_answer.is_span) {
    return {};
  }
  Section section{.key = "steps", .scale_ns = answer.session.replay().measured_answer.step_ns};
  section.tables.push_back(steps_table(answer.session.replay()));
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
