// .ftr out of a table and back: nothing is lost, and nothing grows.
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "tests/trace/formats/read_helpers.h"
#include "tests/trace/formats/write_helpers.h"
#include "tests/trace/same_table.h"

namespace foretrace::trace {
namespace {

std::string text_of(const ImportReport& report) {
  std::string text = fmt::format("{} {} {}", report.events, report.kept, report.bytes);
  for (const Damage& damage : report.damage) {
    text += fmt::format("|{} {} {} {} {}", static_cast<int>(damage.kind), damage.reason,
                        damage.count, damage.first_offset, damage.example);
  }
  for (const std::string& warning : report.warnings) {
    text += "|" + warning;
  }
  return text;
}

void check_round_trip(const LoadedTrace& trace) {
  const LoadedTrace again = read_bytes("ftr", written_as("ftr", trace));
  CHECK(difference(trace.events, again.events) == "");
  CHECK(again.events.info.format == trace.events.info.format);
  CHECK(text_of(again.report) == text_of(trace.report));
}

TEST_CASE("ftr: every fixture comes back as the same table with the same report") {
  for (const auto& entry :
       std::filesystem::directory_iterator(FORETRACE_SOURCE_DIR "/tests/fixtures/kineto_json")) {
    CAPTURE(entry.path().filename());
    if (const auto loaded = read_trace(entry.path().string(), {}); loaded.ok()) {
      check_round_trip(*loaded);
    }
  }
}

TEST_CASE("ftr: real traces come back as the same table, in less space than their .json.gz") {
  for (const std::string& path : some_real_traces()) {
    if (!std::filesystem::exists(path)) {
      MESSAGE("SKIPPED: no " << path);
      continue;
    }
    CAPTURE(path);
    const auto loaded = read_trace(path, {});
    REQUIRE(loaded.ok());
    check_round_trip(*loaded);
    CHECK(written_as("ftr", *loaded).size() <= std::filesystem::file_size(path));
  }
}

TEST_CASE("ftr: damage of the original is still told, and so are ids that fill 32 bits") {
  const LoadedTrace loaded = read_events(
      R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 2, "ts": 1},
         {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": 1, "dur": 2,
          "args": {"device": 0, "stream": 7, "correlation": 4294967295, "External id": 1}})");
  REQUIRE(damage_count(loaded.report, "no duration") == 1);
  check_round_trip(loaded);
}

TEST_CASE("ftr: an empty table is a whole file") {
  LoadedTrace empty;
  empty.events.info.format = "kineto_json";
  empty.events.descriptors.emplace_back();
  check_round_trip(empty);
}

TEST_CASE("ftr: more rows than a chunk holds come back in order") {
  LoadedTrace big;
  EventTable& table = big.events;
  table.info.format = "kineto_json";
  table.descriptors.emplace_back();
  table.tracks.emplace_back();
  constexpr std::size_t rows = 200'000;  // three whole chunks of 65,536 and a part
  for (std::size_t i = 0; i < rows; ++i) {
    table.kind.push_back(EventKind::cpu_op);
    table.name.push_back(table.names.intern("op " + std::to_string(i % 777)));
    table.track.push_back({});
    table.start_ns.push_back(static_cast<std::int64_t>(i * 10));
    table.duration_ns.push_back(static_cast<std::int64_t>(i * i % 1009));
    table.correlation.push_back(0);
    table.external_id.push_back(static_cast<std::uint32_t>(i));
    table.descriptor.push_back({});
    if (i % 5000 == 0) {
      table.sequence_numbers.push_back({make_id<EventId>(i), static_cast<std::int64_t>(i), -1});
      table.record_functions.push_back({make_id<EventId>(i), static_cast<std::uint32_t>(i + 1)});
    }
  }
  check_round_trip(big);
}

TEST_CASE("ftr: the same table gives the same bytes") {
  const LoadedTrace loaded = read_fixture("training_2024.json");
  CHECK(written_as("ftr", loaded) == written_as("ftr", read_fixture("training_2024.json")));
}

}  // namespace
}  // namespace foretrace::trace
