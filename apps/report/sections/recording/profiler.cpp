// The profiler's own work in the times of the host: what was taken out, or that it is there.
#include <cmath>

#include <fmt/format.h>

#include "apps/driver/unprofiled_step.h"
#include "apps/report/pages.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"

namespace foretrace::report::sections {
namespace {

/// The host limits a step whose device waits for it for more than this share.
constexpr double host_limits_share = 0.1;

bool is_limited_by_host(const driver::Analysis* analysis) {
  return analysis != nullptr && share_of(analysis->breakdown.host_bound_ns,
                                         analysis->breakdown.total_ns()) > host_limits_share;
}

/// Events of the host per step; 0: they do not matter here, or there are none.
double events_that_matter(const ResultAnswer& answer) {
  if (answer.recording.unprofiled) return answer.recording.unprofiled->events_per_step;
  const bool matters = is_limited_by_host(&answer.baseline) || is_limited_by_host(answer.predicted);
  return matters ? driver::host_events_per_step(answer.recording) : 0;
}

std::string text_of(const ResultAnswer& answer, double events) {
  const auto rounded = static_cast<std::uint64_t>(std::llround(events));
  if (const auto& found = answer.recording.unprofiled) {
    return fmt::format(
        "{} taken out for each of {} recorded events a step, {} of the host's time, so that the "
        "step takes {} instead of the recorded {}",
        time_text(found->cost_ns), count_text(rounded), percent_text(found->share_of_host),
        time_text(found->step_ns), time_text(found->recorded_step_ns));
  }
  return fmt::format("its times hold the profiler's work, {} events a step{}", count_text(rounded),
                     driver::step_tells_profiler(answer.recording)
                         ? ": see --unprofiled-step"
                         : ", which a step time cannot tell");
}

}  // namespace

Sections profiler(const ResultAnswer& answer) {
  const double events = events_that_matter(answer);
  Section section{.key = "profiler", .path = "profiler"};
  if (events > 0) {
    section.line("host", text_of(answer, events));
    section.datum("events_per_step",
                  Value::count(static_cast<std::uint64_t>(std::llround(events))));
    section.datum("in_host_times", Value::flag(!answer.recording.unprofiled));
    if (const auto& found = answer.recording.unprofiled) {
      section.datum("unprofiled_step_ns", Value::time(found->step_ns));
      section.datum("recorded_step_ns", Value::time(found->recorded_step_ns));
      section.datum("event_ns", Value::time(found->cost_ns));
      section.datum("share_of_host", Value::share(found->share_of_host));
    }
  }
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
