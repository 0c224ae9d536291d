#include "trace/split_ranks.h"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "tests/trace/readers/read_helpers.h"
#include "trace/build_graph.h"

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
  REQUIRE(parts[0].sequence_numbers.size() == 1);
  CHECK(parts[0].name_of(parts[0].sequence_numbers[0].event) == "aten::mm");
  for (const EventTable& part : parts) {
    CHECK(rank_count(part) == 1);
    CHECK(build_graph(part).ok());
  }
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

TEST_CASE("split: apart, processes hand nothing over to each other") {
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
  CHECK(joint->honesty.hand_overs > 100);
  CHECK(apart == 0);  // each process has one thread that launches
}

}  // namespace
}  // namespace foretrace::trace
