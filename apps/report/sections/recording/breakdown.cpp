// Where a step goes: device, host, communication; alone, or before and after a change.
#include <fmt/format.h>

#include "apps/report/pages/result.h"
#include "apps/report/sections/breakdown_parts.h"
#include "apps/report/sections/parts.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"
#include "sim/result/steps/steps.h"

namespace foretrace::report::sections {
namespace {

/// What documents say of one run.
Sections analysis_sections(const std::string& run, const Analysis& analysis) {
  Section rest{.key = run + "_rest", .path = run, .show = Show::never};
  rest.datum("communication_overlapped_ns",
             Value::time(analysis.breakdown.communication_overlapped_ns));
  rest.datum("free",
             Value::object({{"communication_transfer_ns", Value::time(analysis.free_transfers_ns)},
                            {"communication_waiting_ns", Value::time(analysis.free_waiting_ns)}}));
  rest.datum("provenance", by_name<Provenance>(analysis.provenance,
                                               [](double share) { return Value::share(share); }));
  return {breakdown_section(run + "_breakdown", run + "/breakdown", analysis.breakdown),
          std::move(rest)};
}

/// Of the recording: time and share of each part.
Section breakdown_of_one(const ResultAnswer& answer) {
  const StepAnswer& step = answer.session.run().answer;
  const Analysis& analysis = answer.session.analysis();
  Section section{.key = "breakdown",
                  .title = fmt::format("where the {} goes", step_word(step)),
                  .scale_ns = step.step_ns};
  Table table{.columns = {{"part"}, {"time_ns", "time"}, {"share", "share"}}};
  for (const BreakdownPart& part : breakdown_parts) {
    const std::int64_t time = analysis.breakdown.*part.time_ns;
    const std::string at = fmt::format("/baseline/breakdown/{}", part.key);
    if (part.time_ns == &Breakdown::communication_waiting_ns && time == 0 &&
        !analysis.free_waiting_ns && analysis.breakdown.communication_exposed_ns > 0) {
      // Collectives that were matched with no other rank's hold it.
      table.rows.push_back({.cells = {Value::words(part.title), Value::none("unknown"),
                                      Value::none("in the above")}});
      continue;
    }
    table.rows.push_back(
        {.cells = {Value::words(part.title), Value::time(time).from(at),
                   Value::share(share_of(time, step.step_ns)).from(at + " of /baseline/step_ns")},
         .show = time == 0 ? Show::never : Show::always});
  }
  section.tables.push_back(std::move(table));
  if (analysis.free_transfers_ns) {
    section.note(
        fmt::format("computation hides {} of communication; if collectives took no time, the {} "
                    "would be {} shorter",
                    time_text(analysis.breakdown.communication_overlapped_ns, step.step_ns),
                    step_word(step), time_text(*analysis.free_transfers_ns, step.step_ns)));
  }
  if (analysis.free_waiting_ns) {
    section.note(fmt::format("if no rank waited for a later one, the {} would be {} shorter",
                             step_word(step), time_text(*analysis.free_waiting_ns, step.step_ns)));
  }
  return section;
}

struct Times {
  std::int64_t then = 0;
  std::int64_t now = 0;
};

/// Of a recording and its prediction, side by side.
Section breakdown_of_both(const ResultAnswer& answer) {
  const StepAnswer& before = answer.session.run().answer;
  const StepAnswer& after = answer.predicted->run().answer;
  Section section{.key = "comparison", .scale_ns = before.step_ns};
  Table table{
      .columns = {
          {"part"}, {"now_ns", "now"}, {"predicted_ns", "predicted"}, {"change", "change"}}};
  const auto is_nothing = [&](std::int64_t ns) { return ns < before.step_ns / 10'000; };
  // `key`: below "baseline" and "predicted"
  const auto row = [&](std::string_view title, std::string_view key, const Times& times,
                       Show show) {
    const std::string was = fmt::format("/baseline/{}", key);
    const std::string is = fmt::format("/predicted/{}", key);
    Value change = Value::change(times.then == 0 ? 0 : change_of(times.now, times.then));
    // A percentage of next to nothing tells a reader nothing.
    if (is_nothing(times.then) && !is_nothing(times.now)) change = change.as("new");
    return Row{.cells = {Value::words(title), Value::time(times.then).from(was),
                         Value::time(times.now).from(is), change.from(is + " to " + was)},
               .show = show};
  };
  Row whole = row(step_word(before), "step_ns", {before.step_ns, after.step_ns}, Show::always);
  for (const BreakdownPart& part : breakdown_parts) {
    const std::int64_t then = answer.session.analysis().breakdown.*part.time_ns;
    const std::int64_t now = answer.predicted->analysis().breakdown.*part.time_ns;
    whole.below.push_back(row(part.title, fmt::format("breakdown/{}", part.key), {then, now},
                              then == 0 && now == 0 ? Show::never : Show::always));
  }
  table.rows.push_back(std::move(whole));
  if (!before.is_span) {
    table.rows.push_back(
        row("host period", "host_period_ns", {before.host_ns, after.host_ns}, Show::details));
    if (before.device_ns >= 0 && after.device_ns >= 0) {
      table.rows.push_back(row("device period", "device_period_ns",
                               {before.device_ns, after.device_ns}, Show::details));
    }
    table.rows.push_back(
        row("whole span", "span_ns",
            {answer.session.run().steps.span_ns, answer.predicted->run().steps.span_ns},
            Show::details));
  }
  section.tables.push_back(std::move(table));
  return section;
}

}  // namespace

Sections breakdown(const ResultAnswer& answer) {
  Sections sections = analysis_sections("baseline", answer.session.analysis());
  if (answer.predicted == nullptr) {
    sections.push_back(breakdown_of_one(answer));
    return sections;
  }
  for (Section& section : analysis_sections("predicted", answer.predicted->analysis())) {
    sections.push_back(std::move(section));
  }
  sections.push_back(breakdown_of_both(answer));
  return sections;
}

}  // namespace foretrace::report::sections
