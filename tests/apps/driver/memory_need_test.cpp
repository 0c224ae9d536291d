#include "apps/driver/memory_need.h"

#include <doctest/doctest.h>

#include "apps/driver/analysis.h"
#include "sim/engine/pull/pull.h"
#include "sim/graph/change.h"
#include "tests/apps/driver/answers/answers_support.h"

namespace foretrace::driver {
namespace {

TEST_CASE("memory need: a device that a what-if is the first to put tensors on") {
  const auto run = test::loaded(test::demo_memory_trace);
  const TaskGraph& recorded = run.recording.graph();
  constexpr std::int64_t bytes = std::int64_t{8} << 30;
  Change change;
  change.new_tensors.push_back({.bytes = bytes,
                                .rank = 0,
                                .device = 7,
                                .category = TensorCategory::activation,
                                .allocated_in = TaskId{0}});
  const auto changed = commit(recorded, change);
  REQUIRE_MESSAGE(changed.ok(), changed.error().message);
  const TaskGraph& graph = changed->graph;
  const Timeline timeline = simulate(graph);

  const MemoryModel model(run.recording, run.replay.run.timeline);
  const auto need = model.need(graph, timeline);
  REQUIRE(need.has_value());
  CHECK(need->device == 7);
  CHECK(need->live_bytes == bytes);
  CHECK(need->reserved.fresh_bytes >= bytes);
  CHECK(need->reserved.recorded_bytes == -1);

  Analysis analysis;
  analysis.memory = track_memory(graph, timeline);
  add_reserved(run.recording, graph, analysis);
  REQUIRE(analysis.reserved.size() == 2);
  CHECK(analysis.reserved[1].expected_bytes == analysis.reserved[1].fresh_bytes);
}

}  // namespace
}  // namespace foretrace::driver
