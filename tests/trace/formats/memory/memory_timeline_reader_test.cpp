// Memory over time as PyTorch exports it; fixtures are a few samples written by hand.
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "tests/trace/formats/node_helpers.h"
#include "trace/assemble/build_graph.h"

namespace foretrace::trace {
namespace {

TEST_CASE("memory_timeline: samples per category come without the column that is never filled") {
  const LoadedTrace trace = read_file_of("memory_timeline", "coalesced.json");
  REQUIRE(trace.memory() != nullptr);
  const MemoryTimeline& memory = *trace.memory();
  REQUIRE(memory.size() == 3);
  REQUIRE(memory.categories.size() == 8);
  CHECK(memory.categories[0] == "parameter");
  CHECK(memory.categories[7] == "unknown");
  // 1000 + 2000 + 20 + 512 + 8 at the second sample, 1 us after the first.
  CHECK(memory.peak() == 1);
  CHECK(memory.total(1) == 3540);
  CHECK(memory.time_ns[1] == 1000);
  CHECK(memory.time_ns[2] == 40'000);
  CHECK(memory.bytes[8 + 1] == 2000);
}

TEST_CASE("memory_timeline: raw changes add up by category") {
  const LoadedTrace trace = read_file_of("memory_timeline", "raw.json");
  const MemoryTimeline& memory = *trace.memory();
  REQUIRE(memory.size() == 4);  // before the profile, and three different times
  // 1000 + 20 before; + 512 + 8 = 1540 at the first time; one category gives 512 to another.
  CHECK(memory.total(0) == 1020);
  CHECK(memory.total(1) == 1540);
  CHECK(memory.total(2) == 1540);
  CHECK(memory.total(3) == 1520);
  CHECK(memory.bytes[2 * 8 + 4] == 0);
  CHECK(memory.bytes[2 * 8 + 5] == 512);
  CHECK(memory.time_ns[3] == 1696966047096106186 - 1696966047096061874);
}

TEST_CASE("memory_timeline: memory alone is nothing to simulate, which the error says") {
  const auto built = build_graph(read_file_of("memory_timeline", "raw.json"));
  REQUIRE_FALSE(built.ok());
  CHECK(built.error().message.find("memory over time and no work") != std::string::npos);
}

TEST_CASE("memory_timeline: rows of another width and numbers out of range are counted") {
  const auto trace = read_bytes("memory_timeline",
                                "[[1, 2, 3, 4, 5], [[0, 1], [0, 1, 2], [0, 9223372036854775807],"
                                " [0, \"x\"], [0, 7]]]");
  REQUIRE(trace.ok());
  CHECK(trace->memory()->size() == 4);
  CHECK(counted(trace->report, "sample with another number of categories") == 1);
  CHECK(counted(trace->report, "bytes out of range") == 1);
  CHECK(counted(trace->report, "no whole number") == 1);
  CHECK(trace->memory()->total(3) == 7);
}

TEST_CASE("memory_timeline: raw rows that are none are counted, sums of 2^63 do not overflow") {
  const auto trace = read_bytes("memory_timeline",
                                "[[0, 1, 72057594037927936, 0], [1, 1, 72057594037927936, 0],"
                                " [2, 1], [3, 1, 5, 99], [4, 1, 9223372036854775807, 1]]");
  REQUIRE(trace.ok());
  CHECK(counted(trace->report, "no row of time, action, bytes and category") == 2);
  CHECK(counted(trace->report, "bytes out of range") == 1);
  CHECK(trace->memory()->total(trace->memory()->peak()) == 72057594037927936);
}

TEST_CASE("memory_timeline: every prefix is read or refused in one line") {
  const std::string text = "[[1, 2], [[0, 100, 5], [0, 200, 5]]]";
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto trace = read_bytes("memory_timeline", text.substr(0, size));
    if (!trace.ok()) {
      CHECK(trace.error().message == "t: has no samples of a memory timeline");
    }
  }
}

TEST_CASE("memory_timeline: other lists are not taken for it") {
  const auto& reader = reader_called("memory_timeline");
  CHECK(reader.sniff("[[1, 2, 3], [[1], [2], [3]]]") == Confidence::yes);
  CHECK(reader.sniff("[[-1, 1, 37888, 7], [-1, 1, 512, 7]]") == Confidence::yes);
  CHECK(reader.sniff("[[1, 2, 3], [4, 5, 6]]") == Confidence::no);
  CHECK(reader.sniff("[[\"a\", \"b\"]]") == Confidence::no);
  CHECK(reader.sniff("[{\"ph\": \"X\"}]") == Confidence::no);
  CHECK(reader.sniff("[]") == Confidence::no);
}

TEST_CASE("memory_timeline: real exports peak where their authors say") {
  const std::string folder = FORETRACE_SHARED_DIR "/traces/";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: no real traces in " << folder);
    return;
  }
  struct Real {
    const char* path;
    std::size_t samples;
    std::int64_t peak;
  };
  // 2.447 GiB and 1.887 GiB of AdamW in 32 and 8 bits; the raw file adds up to its own peak.
  for (const Real& real : {Real{"ao/adamw_memory_timeline.json.gz", 15849, 2627586048},
                           Real{"ao/adamw8bit_memory_timeline.json.gz", 15080, 2025672704}}) {
    const auto trace = read_trace(folder + real.path, {});
    REQUIRE_MESSAGE(trace.ok(), trace.error().message);
    CHECK(trace->memory()->size() == real.samples);
    CHECK(trace->memory()->total(trace->memory()->peak()) == real.peak);
    CHECK(trace->report.damage.empty());
  }
  const auto raw = read_trace(folder + "hta/memory_timeline.raw.json.gz", {});
  REQUIRE(raw.ok());
  CHECK(raw->report.events == 16845);
  CHECK(raw->report.damage.empty());
}

}  // namespace
}  // namespace foretrace::trace
