#include "trace/annotate/steps.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/core/statistics.h"

namespace foretrace::trace {
namespace {

/// A window cut by the profiler's start or stop lasts 0.02-0.05 ms in real traces, their steps
/// 1.5 ms and more; the slowest first step seen is 3.2 medians, the shortest 0.37.
constexpr std::int64_t degenerate_share = 10;

void mark_degenerate(std::vector<StepWindow>::iterator begin,
                     std::vector<StepWindow>::iterator end) {
  if (end - begin < 2) return;
  for (const auto window : {begin, end - 1}) {
    std::vector<std::int64_t> others;
    for (auto other = begin; other != end; ++other) {
      if (other != window) others.push_back(other->end_ns - other->start_ns);
    }
    const std::int64_t usual = upper_median(std::move(others));
    window->degenerate = (window->end_ns - window->start_ns) < usual / degenerate_share;
  }
}

}  // namespace

std::vector<StepWindow> find_steps(Attribution& attribution) {
  const EventTable& events = attribution.events;
  std::vector<StepWindow> steps;
  for (const EventId event : attribution.nesting.order) {
    if (!attribution.meanings(event).is_step) continue;
    const TrackId track = events.track[index(event)];
    steps.push_back({.rank = events.tracks[index(track)].rank,
                     .track = track,
                     .number = step_number(events.name_of(event)),
                     .start_ns = events.start_ns[index(event)],
                     .end_ns = events.end_ns(event)});
  }
  const auto by_track = [](const StepWindow& a, const StepWindow& b) {
    return std::tuple(a.rank, a.track, a.start_ns) < std::tuple(b.rank, b.track, b.start_ns);
  };
  std::stable_sort(steps.begin(), steps.end(), by_track);
  for (auto begin = steps.begin(); begin != steps.end();) {
    const auto end = std::find_if(begin, steps.end(), [&begin](const StepWindow& step) {
      return step.rank != begin->rank || step.track != begin->track;
    });
    mark_degenerate(begin, end);
    begin = end;
  }
  std::stable_sort(steps.begin(), steps.end(), [](const StepWindow& a, const StepWindow& b) {
    return std::tuple(a.rank, a.start_ns) < std::tuple(b.rank, b.start_ns);
  });
  return steps;
}

}  // namespace foretrace::trace
