#include "sim/graph/commit/wait_sight.h"

#include <algorithm>

#include "sim/graph/commit/commit_parts.h"

namespace foretrace::committing {

bool WaitSight::finds(const Link& link, TaskId source, TaskId waiting) const {
  const TaskId now = placement_.new_id[index(source)];
  const LaneId lane = lane_[index(now)];
  const Lane& about = lanes_[index(lane)];
  if (!link.symbolic || !is_stream_like(about.kind)) return false;
  const auto& waits = graph_.context().waits;
  const auto rows = waits_.of(link.task);
  return std::any_of(rows.begin(), rows.end(), [&](std::uint32_t row) {
    const Wait& wait = waits[row];
    const bool of_device =
        wait.rank == about.rank && (wait.device == no_device || wait.device == about.device);
    const bool covers = wait.lane == none<LaneId> ? of_device : wait.lane == lane;
    if (!covers || wait.kind != link.kind) return false;
    // A rule looks at the streams as of its position, and no further than the task that waits.
    const bool own = wait.at == wait.task && !placement_.removed(wait.task);
    const TaskId at = own ? waiting : placement_.new_position(wait.at, graph_.size());
    return now < std::min(at, waiting);
  });
}

}  // namespace foretrace::committing
