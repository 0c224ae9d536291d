#include "trace/nodes/storages/memory_graph.h"

#include <algorithm>
#include <array>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/memory/memory_tracker.h"
#include "sim/engine/pull/pull.h"

namespace foretrace::trace {
namespace {

constexpr std::int64_t mebi = std::int64_t{1} << 20;

MemoryTimeline timeline_of(std::vector<std::array<std::int64_t, 2>> rows) {
  MemoryTimeline timeline;
  timeline.categories = {"activation", "optimizer state"};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    timeline.time_ns.push_back(static_cast<std::int64_t>(100 * i));
    for (const std::int64_t bytes : rows[i]) timeline.bytes.push_back(bytes);
  }
  return timeline;
}

TEST_CASE("memory graph: live bytes at every sample are those of the timeline") {
  // 8 come, 4 come, 8 go (the older one), a state of 2 comes; then half of the 4 goes.
  const MemoryTimeline timeline =
      timeline_of({{100, 0}, {108, 0}, {112, 0}, {104, 2}, {102, 2}, {0, 2}});
  const auto built = build_memory_graph(timeline);
  REQUIRE(built.ok());
  const auto curves = track_memory(built->graph, simulate(built->graph));
  REQUIRE(curves.size() == 1);
  CHECK(curves[0].base_bytes == 100);
  CHECK(curves[0].peak_bytes == 112);
  CHECK(curves[0].peak_at_ns == 200);
  CHECK(curves[0].end_bytes == 2);
  for (std::size_t sample = 1; sample < timeline.size(); ++sample) {
    std::int64_t live = 100;
    for (const MemoryPoint& point : curves[0].points) {
      if (point.time_ns <= timeline.time_ns[sample]) live = point.live_bytes;
    }
    CHECK(live == timeline.total(sample));
  }
  const auto& tensors = built->graph.context().tensors;
  CHECK(std::count_if(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
          return tensor.category == TensorCategory::optimizer_state;
        }) == 1);
}

TEST_CASE("memory graph: a block a little larger than a usual one held a usual request") {
  // Two states of 4 MiB, one of 4.5 MiB (a tail that was not split off), one of 6 MiB.
  const MemoryTimeline timeline = timeline_of({{0, 0},
                                               {0, 4 * mebi},
                                               {0, 8 * mebi},
                                               {0, 8 * mebi + 9 * mebi / 2},
                                               {0, 14 * mebi + 9 * mebi / 2}});
  const auto built = build_memory_graph(timeline);
  REQUIRE(built.ok());
  std::vector<std::int64_t> requests;
  for (const Tensor& tensor : built->graph.context().tensors) {
    requests.push_back(tensor.requested_bytes);
  }
  CHECK(requests == std::vector<std::int64_t>{4 * mebi, 4 * mebi, 4 * mebi, 6 * mebi});
}

TEST_CASE("memory graph: nothing recorded is an error") {
  CHECK(!build_memory_graph(MemoryTimeline{}).ok());
}

}  // namespace
}  // namespace foretrace::trace
