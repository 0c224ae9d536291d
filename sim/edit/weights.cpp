// Primitives that change times only.
#include "sim/edit/weights.h"

#include <cmath>

#include <fmt/format.h>

namespace foretrace::transform {

namespace {

/// 100 years in ns: a longer duration is a slip of the pen.
constexpr double longest_ns = 3.2e18;

}  // namespace

Status scale(Change& change, const TaskGraph& graph, std::span<const TaskId> tasks, double factor,
             ScaleOf of, const Trust& trust) {
  if (!(factor >= 0.0) || !std::isfinite(factor)) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("scale: got the factor {}, expected a number from 0 on", factor)};
  }
  for (const TaskId task : tasks) {
    const double duration = static_cast<double>(graph.duration_ns(task)) * factor;
    const double segment = static_cast<double>(graph.segment_ns(task)) * factor;
    if (duration > longest_ns || std::abs(segment) > longest_ns) {
      return Error{ErrorCode::bad_usage,
                   fmt::format("scale: the factor {} makes task {} longer than 100 years", factor,
                               index(task))};
    }
    if (of != ScaleOf::segment) {
      change.durations.push_back(
          {task, std::llround(duration), trust.provenance, trust.low, trust.high});
    }
    if (of != ScaleOf::duration) {
      change.segments.push_back({task, std::llround(segment), trust.provenance});
    }
  }
  return ok_status();
}

void set_duration(Change& change, std::span<const TaskId> tasks, std::int64_t duration_ns,
                  const Trust& trust) {
  for (const TaskId task : tasks) {
    change.durations.push_back({task, duration_ns, trust.provenance, trust.low, trust.high});
  }
}

void set_segment(Change& change, std::span<const TaskId> tasks, std::int64_t segment_ns,
                 Provenance provenance) {
  for (const TaskId task : tasks) change.segments.push_back({task, segment_ns, provenance});
}

void set_lag(Change& change, std::span<const TaskId> tasks, DependencyKind kind,
             std::int64_t lag_ns) {
  for (const TaskId task : tasks) change.lags.push_back({task, kind, lag_ns});
}

}  // namespace foretrace::transform
