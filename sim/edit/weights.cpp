// Edits of times only.
#include <cmath>

#include <fmt/format.h>

#include "sim/core/whole.h"
#include "sim/edit/editor.h"

namespace foretrace {

namespace {

/// 100 years in ns: a longer duration is a slip of the pen.
constexpr double longest_ns = 3.2e18;

}  // namespace

Status Editor::scale(std::span<const TaskId> tasks, double factor, ScaleOf of, const Trust& trust) {
  if (!(factor >= 0.0) || !std::isfinite(factor)) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("scale: got the factor {}, expected a number from 0 on", factor)};
  }
  for (const TaskId task : tasks) {
    const double duration = static_cast<double>(graph_.duration_ns(task)) * factor;
    const double segment = static_cast<double>(graph_.segment_ns(task)) * factor;
    if (duration > longest_ns || std::abs(segment) > longest_ns) {
      return Error{ErrorCode::bad_usage,
                   fmt::format("scale: the factor {} makes task {} longer than 100 years", factor,
                               index(task))};
    }
    if (of != ScaleOf::segment) set_duration(task, to_whole(duration), trust);
    if (of != ScaleOf::duration) set_segment(task, to_whole(segment), trust.provenance);
  }
  return ok_status();
}

void Editor::set_duration(TaskId task, std::int64_t duration_ns, const Trust& trust) {
  change_.durations.push_back({task, duration_ns, trust.provenance, trust.low, trust.high});
}

void Editor::set_segment(TaskId task, std::int64_t segment_ns, Provenance provenance) {
  change_.segments.push_back({task, segment_ns, provenance});
}

void Editor::set_lag(TaskId task, DependencyKind kind, std::int64_t lag_ns) {
  change_.lags.push_back({task, kind, lag_ns});
}

}  // namespace foretrace
