// One run on one stream and on three, of which each kernel waits for the one before it: the same
// run, as far as time goes.
#pragma once

#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/edit/editor.h"
#include "sim/graph/change.h"
#include "tests/sim/graph/random_change.h"

namespace foretrace::test {

/// The device's work waits for what was enqueued before it; `streams` above 1: on as many streams
/// by chance.
inline TaskGraph in_turn(const TaskGraph& graph, std::uint32_t streams, Choices& choices) {
  Editor editor(graph);
  std::vector<TaskId> tasks;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (is_device(graph.kind(make_id<TaskId>(i)))) tasks.push_back(make_id<TaskId>(i));
  }
  std::vector<LaneId> lanes = {graph.lane_id(tasks.front())};
  while (lanes.size() < streams) {
    Lane lane = graph.lane(tasks.front());
    lane.number = 20 + static_cast<std::int64_t>(lanes.size());
    lanes.push_back(editor.add_lane(std::move(lane)));
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (graph.lane_id(tasks[i]) == lanes.front()) {
      editor.move(std::vector{tasks[i]}, lanes[choices.below(streams)]);
    }
    if (i > 0) editor.depend(tasks[i], tasks[i - 1], DependencyKind::event_wait);
  }
  auto changed = commit(graph, editor.finish());
  REQUIRE(changed.ok());
  return std::move(changed->graph);
}

}  // namespace foretrace::test
