#include "trace/table/split_ranks.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "tests/trace/formats/read_helpers.h"
#include "tests/trace/rules/table_builder.h"
#include "trace/assemble/build_graph.h"

namespace foretrace::trace {
namespace {

EventTable events_of(const std::string& path) {
  auto loaded = read_trace(path, {});
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  return std::move(loaded->events);
}

TEST_CASE("split: processes with device work become ranks of their own") {
  EventTable whole = events_of(FORETRACE_SOURCE_DIR "/tests/fixtures/nsys_sqlite/tiny.sqlite");
  const std::size_t rows = whole.size();
  for (std::size_t row = 0; row < whole.size(); ++row) {
    if (whole.name_of(make_id<EventId>(row)) == "aten::mm") {
      whole.record_functions.push_back({make_id<EventId>(row), 7});
    }
  }
  CHECK(rank_count(whole) == 2);
  const std::vector<EventTable> parts = split_ranks(std::move(whole));
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].size() + parts[1].size() == rows);
  CHECK(parts[0].info.rank == 0);
  CHECK(parts[1].info.rank == 1);
  CHECK(parts[1].info.world_size == 2);
  // Process 200 launches at 1005 and its kernel ends at 2500.
  REQUIRE(parts[1].size() == 2);
  CHECK(parts[1].info.first_time_ns == 1005);
  CHECK(parts[1].start_ns[0] == 0);
  CHECK(parts[1].start_ns[1] == 1005);
  CHECK(parts[1].correlation[0] == parts[1].correlation[1]);
  REQUIRE(parts[1].info.devices.size() == 1);
  CHECK(parts[1].info.devices[0].id == 1);
  // Everything else is of process 100.
  CHECK(parts[0].info.first_time_ns == 500);
  CHECK(parts[0].syncs.size() == 2);
  CHECK(parts[1].syncs.empty());
  CHECK(parts[0].memory.size() == 2);
  REQUIRE(parts[0].record_functions.size() == 1);
  CHECK(parts[0].name_of(parts[0].record_functions[0].event) == "aten::mm");
  CHECK(parts[1].record_functions.empty());
  REQUIRE(parts[0].sequence_numbers.size() == 1);
  CHECK(parts[0].name_of(parts[0].sequence_numbers[0].event) == "aten::mm");
  for (const EventTable& part : parts) {
    CHECK(rank_count(part) == 1);
    CHECK(build_graph(part).ok());
  }
}

/// The end of the task of this name if every task called "b" took `times` as long.
std::int64_t end_with_b(const BuiltGraph& built, std::string_view name, std::int64_t times) {
  const TaskGraph& graph = built.graph;
  std::vector<std::int64_t> durations = *graph.weights().duration_ns;
  for (std::size_t task = 0; task < graph.size(); ++task) {
    if (graph.name(make_id<TaskId>(task)) == "b") {
      durations[task] *= times;
    }
  }
  Weights weights = graph.weights();
  weights.duration_ns = std::make_shared<const std::vector<std::int64_t>>(std::move(durations));
  Timeline timeline;
  simulate(graph.topology(), weights, timeline);
  for (std::size_t task = 0; task < graph.size(); ++task) {
    if (graph.name(make_id<TaskId>(task)) == name) {
      return timeline.end_ns(make_id<TaskId>(task));
    }
  }
  FAIL("no task of this name");
  return 0;
}

TEST_CASE("split: a call that waits for the device waits for its own process only") {
  // Two processes, each with a thread and a GPU. The first waits for its GPU from 20 to 92 us,
  // where "a" ends at 90; the other GPU's "b" ends at 60. Then it launches "c".
  const auto table = [](std::int32_t second_rank) {
    TableBuilder t;
    const TrackId one = t.thread(1);
    const TrackId two = t.thread(2);
    const TrackId gpu_one = t.stream(7);
    const TrackId gpu_two = t.stream(8);
    for (const TrackId track : {two, gpu_two}) {
      t.table().tracks[index(track)].rank = second_rank;
    }
    t.work(t.call(one, "cudaLaunchKernel", 0, 5), gpu_one, 10, 80, "a");
    t.work(t.call(two, "cudaLaunchKernel", 1, 5), gpu_two, 10, 50, "b");
    t.call(one, "cudaDeviceSynchronize", 20, 72);
    t.work(t.call(one, "cudaLaunchKernel", 95, 5), gpu_one, 104, 10, "c");
    return t.table();
  };
  const auto apart = build_graph(table(1));
  const auto alike = build_graph(table(0));
  REQUIRE(apart.ok());
  REQUIRE(alike.ok());
  // If "b" takes 500 us, "c" waits for it only in the process of both.
  CHECK(end_with_b(*apart, "c", 10) == end_with_b(*apart, "c", 1));
  CHECK(end_with_b(*alike, "c", 10) > end_with_b(*alike, "c", 1) + 300'000);
}

TEST_CASE("split: a trace of one process stays as it is") {
  EventTable whole = events_of(FORETRACE_SOURCE_DIR "/tests/fixtures/xplane/gpu.xplane.pb");
  const std::vector<std::int64_t> starts = whole.start_ns;
  CHECK(rank_count(whole) == 1);
  const std::vector<EventTable> parts = split_ranks(std::move(whole));
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].start_ns == starts);
  CHECK(split_ranks(EventTable{}).size() == 1);
}

TEST_CASE("split: processes hand nothing over to each other, together or apart") {
  const std::string path =
      FORETRACE_SHARED_DIR "/traces/nsys_sqlite/train_2gpu_1s_window.sqlite.gz";
  if (!std::filesystem::exists(path)) {
    MESSAGE("SKIPPED: no " << path);
    return;
  }
  EventTable whole = events_of(path);
  const auto joint = build_graph(whole);
  REQUIRE_MESSAGE(joint.ok(), joint.error().message);
  std::uint64_t apart = 0;
  for (const EventTable& part : split_ranks(std::move(whole))) {
    const auto built = build_graph(part);
    REQUIRE_MESSAGE(built.ok(), built.error().message);
    CHECK(part.info.world_size == 2);
    apart += built->honesty.hand_overs;
  }
  CHECK(joint->honesty.hand_overs == 0);
  CHECK(apart == 0);  // each process has one thread that launches
}

}  // namespace
}  // namespace foretrace::trace
