#include "apps/session/recording/without_events.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "sim/core/whole.h"

namespace foretrace {
namespace {

std::int64_t left(std::int64_t ns, std::uint32_t events, std::int64_t cost_ns) {
  const std::int64_t kept = to_whole(static_cast<double>(ns) * kept_of_host);
  return events == 0 ? ns : std::max(std::min(ns, kept), ns - events * cost_ns);
}

/// `now` with the share that is left of what was recorded.
std::int64_t share_left(std::int64_t now, std::int64_t recorded, std::int64_t lighter) {
  if (recorded == lighter || recorded <= 0) return now;
  return to_whole(static_cast<double>(now) * static_cast<double>(lighter) /
                  static_cast<double>(recorded));
}

}  // namespace

TaskGraph without_events(const TaskGraph& recorded, const HostEvents& events,
                         std::int64_t cost_ns) {
  Weights weights = recorded.weights();
  auto durations = std::make_shared<std::vector<std::int64_t>>(*weights.duration_ns);
  auto segments = std::make_shared<std::vector<std::int64_t>>(*weights.segment_ns);
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    (*durations)[i] = left((*durations)[i], events.inside[i], cost_ns);
    (*segments)[i] = left((*segments)[i], events.before[i], cost_ns);
  }
  weights.duration_ns = std::move(durations);
  weights.segment_ns = std::move(segments);
  return recorded.with_weights(std::move(weights));
}

TaskGraph without_events(const TaskGraph& changed, std::span<const TaskId> origin,
                         const TaskGraph& recorded, const TaskGraph& lighter) {
  Weights weights = changed.weights();
  auto durations = std::make_shared<std::vector<std::int64_t>>(*weights.duration_ns);
  auto segments = std::make_shared<std::vector<std::int64_t>>(*weights.segment_ns);
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const TaskId was = origin.empty() ? make_id<TaskId>(i) : origin[i];
    if (was == none<TaskId>) continue;
    (*durations)[i] =
        share_left((*durations)[i], recorded.duration_ns(was), lighter.duration_ns(was));
    (*segments)[i] = share_left((*segments)[i], recorded.segment_ns(was), lighter.segment_ns(was));
  }
  weights.duration_ns = std::move(durations);
  weights.segment_ns = std::move(segments);
  return changed.with_weights(std::move(weights));
}

}  // namespace foretrace
