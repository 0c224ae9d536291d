#include "trace/formats/common/row_builder.h"

#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

namespace foretrace::trace::formats {
namespace {

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

struct Rows {
  EventTable table;
  ImportReport report;
  RowBuilder builder{table, report};

  bool add(std::int64_t scope, std::int64_t correlation, std::int64_t start, std::int64_t end) {
    return builder.add({.kind = EventKind::kernel,
                        .track = builder.stream(scope, 0, 7),
                        .start_ns = start,
                        .end_ns = end,
                        .scope = scope,
                        .correlation = correlation},
                       {.table = "T", .number = table.size() + 1, .offset = 0});
  }
};

TEST_CASE("rows: times out of range and negative durations are counted, not kept") {
  Rows rows;
  CHECK(rows.add(1, 1, 10, 20));
  CHECK_FALSE(rows.add(1, 2, 20, 10));
  CHECK_FALSE(rows.add(1, 3, huge, huge));
  CHECK_FALSE(rows.add(1, 4, -huge, 0));
  CHECK_FALSE(rows.add(1, 5, 0, huge));
  rows.builder.finish();
  CHECK(rows.table.size() == 1);
  CHECK(rows.report.events == 5);
  CHECK(rows.report.kept == 1);
  CHECK(rows.report.dropped() == 4);
  CHECK(rows.report.damage[0].reason == "negative duration");
  CHECK(rows.report.damage[0].example == "T row 2");
}

TEST_CASE("rows: correlations stay as recorded where they tell rows apart") {
  Rows rows;
  rows.add(1, 4000000000, 0, 1);
  rows.add(1, 0, 0, 1);
  rows.add(1, -1, 0, 1);
  rows.builder.finish();
  CHECK(rows.table.correlation[0] == 4000000000U);
  CHECK(rows.table.correlation[1] == 0);
  CHECK(rows.table.correlation[2] == 0);
}

TEST_CASE("rows: correlations of several processes, or of 64 bits, get free numbers") {
  Rows rows;
  rows.add(1, 5, 0, 1);
  rows.add(2, 5, 0, 1);
  rows.add(1, huge, 0, 1);
  rows.add(1, 5, 0, 1);
  rows.builder.add(SyncRecord{.correlation = 5, .start_ns = 3}, 2, {});
  rows.builder.finish();
  const auto& ids = rows.table.correlation;
  CHECK(ids[0] == ids[3]);
  CHECK(ids[0] != ids[1]);
  CHECK(ids[2] != 0);
  CHECK(ids[2] != ids[0]);
  CHECK(rows.table.syncs[0].correlation == ids[1]);
  CHECK(rows.table.syncs[0].record_correlation == -1);
}

TEST_CASE("rows: every process with device work has a rank, unless the file says one") {
  Rows rows;
  rows.builder.thread(300, 1);
  rows.add(200, 1, 0, 1);
  rows.add(100, 1, 0, 1);
  rows.builder.thread(200, 5);
  CHECK(rows.builder.device_processes() == std::vector<std::int64_t>{100, 200});
  rows.builder.finish();
  CHECK(rows.table.tracks[0].rank == 0);  // launches nothing
  CHECK(rows.table.tracks[1].rank == 1);
  CHECK(rows.table.tracks[2].rank == 0);
  CHECK(rows.table.tracks[3].rank == 1);  // a thread of 200
}

TEST_CASE("rows: equal descriptors are one, and the first is 'no arguments'") {
  Rows rows;
  Descriptor grid;
  grid.grid = {1, 2, 3};
  Descriptor other = grid;
  other.flops = 7;
  CHECK(index(rows.builder.intern(Descriptor{})) == 0);
  const DescriptorId id = rows.builder.intern(grid);
  CHECK(index(id) == 1);
  CHECK(rows.builder.intern(grid) == id);
  CHECK(rows.builder.intern(other) != id);
}

TEST_CASE("rows: bytes that are no UTF-8 are replaced and counted") {
  Rows rows;
  const NameId name = rows.builder.intern("a\xFFz", {.table = "T", .number = 0, .offset = 12});
  CHECK(rows.table.names[name] == "a\xEF\xBF\xBDz");
  REQUIRE(rows.report.damage.size() == 1);
  CHECK(rows.report.damage[0].kind == DamageKind::repaired);
  CHECK(rows.report.damage[0].first_offset == 12);
}

}  // namespace
}  // namespace foretrace::trace::formats
