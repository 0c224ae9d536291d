#include "models/editing/batches/loader_batches.h"

#include <utility>

#include <fmt/format.h>

namespace foretrace::editing {

std::map<std::int32_t, std::vector<Batch>> batches_of(const TaskGraph& graph,
                                                      const selecting::TextPattern& pattern) {
  std::map<std::int32_t, std::vector<Batch>> batches;
  for (const SegmentPart& part : graph.context().segment_parts) {
    if (!pattern.found_in(graph.names()[part.label])) continue;
    std::vector<Batch>& of_rank = batches[graph.lane(part.task).rank];
    if (of_rank.empty() || of_rank.back().consumer != part.task) {
      of_rank.push_back({part.task, 0});
    }
    of_rank.back().loading_ns += part.duration_ns;
  }
  return batches;
}

std::int64_t interval_of(const std::vector<Batch>& batches, const Timeline& timeline) {
  if (batches.size() < 2) return 0;
  const std::int64_t span =
      timeline.start_ns(batches.back().consumer) - timeline.start_ns(batches.front().consumer);
  return span / static_cast<std::int64_t>(batches.size() - 1);
}

LaneId add_worker_lanes(Editor& editor, std::int32_t rank, std::size_t workers) {
  LaneId first{};
  for (std::size_t w = 0; w < workers; ++w) {
    Lane lane;
    lane.kind = LaneKind::host_thread;
    lane.rank = rank;
    lane.number = static_cast<std::int64_t>(w);
    lane.name = fmt::format("data loader worker {}", w);
    const LaneId id = editor.add_lane(std::move(lane));
    if (w == 0) first = id;
  }
  return first;
}

}  // namespace foretrace::editing
