// Damaged .ftr files: what is whole is read, what is lost is counted, and nothing is believed.
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/trace/formats/read_helpers.h"
#include "tests/trace/formats/write_helpers.h"
#include "tests/trace/same_table.h"
#include "trace/ftr/bytes.h"
#include "trace/ftr/container.h"
#include "trace/ftr/deflate.h"
#include "trace/ftr/rows.h"
#include "trace/ftr/table_fields.h"
#include "trace/ftr/texts.h"

namespace foretrace::trace {
namespace {

using namespace foretrace::trace::ftr;

const std::string fixture_path = FORETRACE_SOURCE_DIR "/tests/fixtures/ftr/training_2024.ftr";

std::string fixture() {
  std::ifstream file(fixture_path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The fixture as its chunks, to be put together otherwise.
std::vector<Chunk> chunks_of(std::string_view file) {
  ImportReport report;
  return find_chunks(file, report);
}

std::string file_of(const std::vector<std::pair<ChunkKind, std::string>>& chunks) {
  std::string file = head();
  std::uint32_t ordinal = 0;
  for (const auto& [kind, payload] : chunks) {
    file += chunk(kind, ordinal++, payload);
  }
  return file;
}

std::vector<std::pair<ChunkKind, std::string>> parts_of_fixture() {
  static const std::string file = fixture();
  std::vector<std::pair<ChunkKind, std::string>> parts;
  for (const Chunk& one : chunks_of(file)) {
    parts.emplace_back(one.kind, std::string(one.payload));
  }
  return parts;
}

std::string error_of(std::string_view bytes, const ReadOptions& options = {}) {
  const auto loaded = try_read_bytes("ftr", bytes, options);
  REQUIRE_FALSE(loaded.ok());
  return loaded.error().message;
}

LoadedTrace read_ftr(std::string_view bytes) { return read_bytes("ftr", bytes); }

TEST_CASE("ftr: the fixture is found by its first bytes and equals the JSON it was made from") {
  const auto loaded = read_trace(fixture_path, {});
  REQUIRE(loaded.ok());
  CHECK(difference(loaded->events, read_fixture("training_2024.json").events) == "");
  CHECK(loaded->report.damage.empty());
  CHECK(loaded->report.warnings.empty());
}

TEST_CASE("ftr: what is no .ftr file, or one of a later version, is refused with its reason") {
  CHECK(error_of("") == "t: is not an .ftr file: its first bytes differ");
  CHECK(error_of("\x89PNG\r\n\x1a\n-------------") ==
        "t: is not an .ftr file: its first bytes differ");
  CHECK(error_of(magic) == "t: ends inside the head of the file, got 8 bytes, expected 16");
  std::string file = fixture();
  file[9] = '\x01';
  CHECK(error_of(file) == "t: the head of the file is damaged: its checksum differs");
  CHECK(error_of(head()) == "t: contains no complete chunk that describes its contents");
  std::string later(magic);
  put_fixed(later, 7, 4);
  put_fixed(later, checksum(later), 4);
  CHECK(error_of(later) ==
        "t: written by a later foretrace: got version 7 of the format, expected at most 1");
}

TEST_CASE("ftr: a file cut anywhere is read up to its last whole chunk, and says so") {
  const std::string file = fixture();
  const auto whole = read_ftr(file);
  const std::vector<Chunk> chunks = chunks_of(file);
  for (std::size_t cut = head_bytes; cut < file.size(); cut += 1 + cut % 7) {
    CAPTURE(cut);
    const auto loaded = try_read_bytes("ftr", std::string_view(file).substr(0, cut));
    if (cut < chunks[1].offset) {
      CHECK_FALSE(loaded.ok());
      continue;
    }
    REQUIRE(loaded.ok());
    CHECK(loaded->events.size() <= whole.events.size());
    CHECK(has_warning(loaded->report, "the file has no end mark, its writer was stopped"));
    const bool between =
        std::any_of(chunks.begin(), chunks.end(), [&](const Chunk& c) { return c.offset == cut; });
    CHECK(has_warning(loaded->report, "the file ends inside a chunk at byte") == !between);
  }
}

TEST_CASE("ftr: a chunk with a wrong checksum is left out and counted, the rest is read") {
  const std::string file = fixture();
  for (const Chunk& one : chunks_of(file)) {
    if (one.payload.empty() || one.kind == ChunkKind::info) {
      continue;
    }
    CAPTURE(static_cast<int>(one.kind));
    std::string broken = file;
    const auto at =
        static_cast<std::size_t>(one.offset) + chunk_head_bytes + one.payload.size() / 2;
    broken[at] = static_cast<char>(broken[at] ^ 0x10);
    const LoadedTrace loaded = read_ftr(broken);
    CHECK(damage_count(loaded.report, "chunk with a wrong checksum") == 1);
    const bool has_events = one.kind == ChunkKind::events || one.kind == ChunkKind::tracks;
    CHECK((loaded.events.size() == 0) == has_events);
    CHECK(error_of(broken, {.strict = true, .progress = {}})
              .find("chunk with a wrong checksum at byte") != std::string::npos);
  }
}

TEST_CASE("ftr: a broken head of a chunk costs that chunk only") {
  std::string file = fixture();
  const std::vector<Chunk> chunks = chunks_of(file);
  std::size_t names = 0;
  while (chunks[names].kind != ChunkKind::names) {
    ++names;
  }
  const auto at = static_cast<std::size_t>(chunks[names].offset);
  file[at + 9] = static_cast<char>(file[at + 9] ^ 0x7f);  // its size
  const LoadedTrace loaded = read_ftr(file);
  CHECK(damage_count(loaded.report, "bytes outside of chunks") == 1);
  CHECK(loaded.events.size() == read_ftr(fixture()).events.size());
  CHECK(damage_count(loaded.report, "names that are missing") == 1);
}

TEST_CASE("ftr: an event whose name, arguments or track are not there is repaired or dropped") {
  auto parts = parts_of_fixture();
  std::string payload = start_rows(0, 4, 5);
  const auto column = [&](EventColumn id, const std::vector<std::int64_t>& values) {
    put_stored_column(payload, static_cast<std::uint64_t>(id), values);
  };
  column(EventColumn::kind, {0, 0, 0, 10});  // 10: no such kind
  column(EventColumn::name, {1, 4'000'000'000, 1, 1});
  column(EventColumn::track, {0, 0, 900, 0});
  column(EventColumn::start, {5, 6, 7, 8});
  column(EventColumn::descriptor, {0, 77'777, 0, 0});
  for (auto& [kind, bytes] : parts) {
    bytes = kind == ChunkKind::events ? payload : bytes;
  }
  // Every column of events must be there.
  const LoadedTrace without = read_ftr(file_of(parts));
  CHECK(without.events.size() == 0);
  CHECK(damage_count(without.report, "damaged chunk of events") == 1);

  payload = start_rows(0, 4, 8);
  column(EventColumn::kind, {0, 0, 0, 10});
  column(EventColumn::name, {1, 4'000'000'000, 1, 1});
  column(EventColumn::track, {0, 0, 900, 0});
  column(EventColumn::start, {5, 6, 7, 8});
  column(EventColumn::duration, {1, 1, 1, 1});
  column(EventColumn::correlation, {0, 0, 0, 0});
  column(EventColumn::external_id, {0, 0, 0, 0});
  column(EventColumn::descriptor, {0, 77'777, 0, 0});
  for (auto& [kind, bytes] : parts) {
    bytes = kind == ChunkKind::events ? payload : bytes;
  }
  const LoadedTrace loaded = read_ftr(file_of(parts));
  REQUIRE(loaded.events.size() == 2);
  CHECK(loaded.events.name_of(EventId{1}).empty());
  CHECK(index(loaded.events.descriptor[1]) == 0);
  CHECK(damage_count(loaded.report, "names that are missing") == 1);
  CHECK(damage_count(loaded.report, "arguments that are missing") == 1);
  CHECK(damage_count(loaded.report, "event whose kind, track or time is out of range") == 2);
}

TEST_CASE("ftr: sizes up to 2^64 are not believed") {
  for (const std::uint64_t size : {std::uint64_t{1} << 22U, std::uint64_t{1} << 32U,
                                   std::uint64_t{1} << 63U, ~std::uint64_t{0}}) {
    CAPTURE(size);
    std::string rows;
    put_number(rows, 0);
    put_number(rows, size);
    put_number(rows, 8);
    std::string names;
    put_number(names, 0);
    put_number(names, size);
    put_text(names, "");
    put_number(names, size);
    put_text(names, "x");
    std::string far = put_names(size, std::vector<std::string_view>{"a"}, 1);
    std::string pairs;
    put_number(pairs, size);
    std::string column = start_rows(size, 1, 1);
    put_number(column, 4);
    put_number(column, size);
    // Nothing of it is there, but for the place that it says to have.
    const std::string far_track = start_rows(std::uint64_t{1} << 22U, 0, 0);
    const std::string info = put_pairs({{"content", "table"}});
    const LoadedTrace loaded = read_ftr(file_of({{ChunkKind::info, info},
                                                 {ChunkKind::names, names},
                                                 {ChunkKind::names, far},
                                                 {ChunkKind::events, rows},
                                                 {ChunkKind::events, column},
                                                 {ChunkKind::memory, rows},
                                                 {ChunkKind::tracks, rows},
                                                 {ChunkKind::tracks, far_track},
                                                 {ChunkKind::report, pairs},
                                                 {ChunkKind::end, ""}}));
    CHECK(loaded.events.size() == 0);
    CHECK(loaded.events.tracks.size() < 1000);
    CHECK(damage_count(loaded.report, "damaged chunk of names") == 2);
    CHECK(damage_count(loaded.report, "damaged chunk of events") == 2);
    CHECK(damage_count(loaded.report, "damaged chunk of rows") == 2);
    CHECK(damage_count(loaded.report, "damaged chunk of the report") == 1);
  }
}

TEST_CASE("ftr: sequence numbers follow their events when a chunk of events is lost") {
  LoadedTrace big;
  EventTable& table = big.events;
  table.descriptors.emplace_back();
  table.tracks.emplace_back();
  for (std::size_t i = 0; i < rows_per_chunk + 10; ++i) {
    table.kind.push_back(EventKind::cpu_op);
    table.name.push_back(table.names.intern("op"));
    table.track.push_back({});
    table.start_ns.push_back(static_cast<std::int64_t>(i));
    table.duration_ns.push_back(1);
    table.correlation.push_back(0);
    table.external_id.push_back(static_cast<std::uint32_t>(i));
    table.descriptor.push_back({});
  }
  table.sequence_numbers = {{EventId{3}, 1, -1}, {make_id<EventId>(rows_per_chunk + 4), 2, -1}};
  std::string file = written_as("ftr", big);
  for (const Chunk& one : chunks_of(file)) {
    if (one.kind == ChunkKind::events) {  // the first of two
      const auto at = static_cast<std::size_t>(one.offset) + chunk_head_bytes + 10;
      file[at] = static_cast<char>(file[at] ^ 1);
      break;
    }
  }
  const LoadedTrace loaded = read_ftr(file);
  REQUIRE(loaded.events.size() == 10);
  REQUIRE(loaded.events.sequence_numbers.size() == 1);
  const SequenceNumber& left = loaded.events.sequence_numbers.front();
  CHECK(left.number == 2);
  CHECK(loaded.events.external_id[index(left.event)] == rows_per_chunk + 4);
  CHECK(damage_count(loaded.report, "sequence number of a missing event") == 1);
}

}  // namespace
}  // namespace foretrace::trace
