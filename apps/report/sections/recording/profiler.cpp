// The profiler's own work in the times of the host: what was taken out, or that it is there.

#include <fmt/format.h>

#include "apps/report/pages/result.h"
#include "apps/report/sections/parts.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"
#include "apps/session/recording/unprofiled_step.h"
#include "sim/core/whole.h"

namespace foretrace::report {
namespace {

/// The host limits a step whose device waits for it for more than this share.
constexpr double host_limits_share = 0.1;

bool is_limited_by_host(const Analysis& analysis) {
  const Breakdown& parts = analysis.breakdown;
  return share_of(parts.host_bound_ns, parts.total_ns()) > host_limits_share;
}

std::uint64_t rounded(double events) { return static_cast<std::uint64_t>(to_whole(events)); }

/// Of every event that was taken out.
std::string text_of(const Unprofiled& found) {
  return fmt::format(
      "{} removed for each of {} recorded events per step ({} of CPU time), so the step takes {} "
      "instead of the recorded {}",
      time_text(found.cost_ns), count_text(rounded(found.events_per_step)),
      percent_text(found.share_of_host), time_text(found.step_ns),
      time_text(found.recorded_step_ns));
}

/// That it is there, and what is made of it.
std::string text_of(const Recording& recording, double events, std::int64_t allowed_ns) {
  std::string text = fmt::format("CPU times include profiler overhead ({} events per step)",
                                 count_text(rounded(events)));
  const bool step_tells = step_tells_profiler(recording);
  if (!step_tells) text += ", not separable here";
  if (allowed_ns > 0) {
    text += fmt::format("; the range allows up to {} per event{}", time_text(allowed_ns),
                        step_tells ? ", beyond their share of the step now" : "");
  }
  return text;
}

std::string option_for(const Recording& recording) {
  return step_tells_profiler(recording) ? "; remove it with --unprofiled-step TIME" : "";
}

}  // namespace

Section profiler_section(const Recording& recording, bool host_matters, std::int64_t allowed_ns) {
  const auto& found = recording.unprofiled;
  const double events = found          ? found->events_per_step
                        : host_matters ? host_events_per_step(recording)
                                       : 0;
  Section section{.key = "profiler", .path = "profiler"};
  if (events == 0) return section;
  if (found) {
    section.line("host", text_of(*found));
  } else {
    section.line("host", text_of(recording, events, allowed_ns), Show::always,
                 option_for(recording));
  }
  section.datum("events_per_step", Value::count(rounded(events)));
  section.datum("in_host_times", Value::flag(!found));
  if (allowed_ns > 0) section.datum("range_event_ns", Value::time(allowed_ns));
  if (found) {
    section.datum("unprofiled_step_ns", Value::time(found->step_ns));
    section.datum("recorded_step_ns", Value::time(found->recorded_step_ns));
    section.datum("event_ns", Value::time(found->cost_ns));
    section.datum("share_of_host", Value::share(found->share_of_host));
  }
  return section;
}

namespace sections {

Sections profiler(const ResultAnswer& answer) {
  const std::int64_t allowed_ns =
      answer.predicted == nullptr ? 0 : answer.predicted->prediction().profiler_event_ns;
  const bool matters =
      is_limited_by_host(answer.session.analysis()) ||
      (answer.predicted != nullptr && is_limited_by_host(answer.predicted->analysis())) ||
      allowed_ns > 0;
  return {profiler_section(answer.session.recording(), matters, allowed_ns)};
}

}  // namespace sections
}  // namespace foretrace::report
