#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/trace/formats/read_helpers.h"
#include "tests/trace/formats/sqlite_bytes.h"
#include "trace/assemble/build_graph.h"

namespace foretrace::trace {
namespace {

const char* const fixture = FORETRACE_SOURCE_DIR "/tests/fixtures/nsys_sqlite/tiny.sqlite";

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

Result<LoadedTrace> try_bytes(const std::string& bytes, const ReadOptions& options = {}) {
  const auto source = open_memory(bytes, "t.sqlite");
  return reader_called("nsys_sqlite").read(*source, options);
}

LoadedTrace read_bytes(const std::string& bytes) {
  auto loaded = try_bytes(bytes);
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  return std::move(loaded).value();
}

LoadedTrace read_tiny() {
  auto loaded = read_trace(fixture, {});
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  return std::move(loaded).value();
}

std::size_t count_kind(const EventTable& table, EventKind kind) {
  return static_cast<std::size_t>(std::count(table.kind.begin(), table.kind.end(), kind));
}

std::vector<EventId> all_called(const EventTable& table, std::string_view name) {
  std::vector<EventId> found;
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (table.name_of(make_id<EventId>(row)) == name) {
      found.push_back(make_id<EventId>(row));
    }
  }
  return found;
}

const char* const minimal_kernels =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, "
    "streamId INTEGER, correlationId INTEGER, shortName INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 7, 1, 1);";

TEST_CASE("nsys_sqlite: a plain file and its bytes read the same") {
  const LoadedTrace plain = read_tiny();
  const LoadedTrace memory = read_bytes(bytes_of(fixture));
  CHECK(plain.events.info.format == "nsys_sqlite");
  CHECK(plain.events.size() == memory.events.size());
  CHECK(plain.events.start_ns == memory.events.start_ns);
  CHECK(plain.events.duration_ns == memory.events.duration_ns);
}

TEST_CASE("nsys_sqlite: every table becomes events of its kind") {
  const LoadedTrace trace = read_tiny();
  const EventTable& table = trace.events;
  CHECK(count_kind(table, EventKind::kernel) == 4);
  CHECK(count_kind(table, EventKind::copy) == 1);
  CHECK(count_kind(table, EventKind::set) == 1);
  CHECK(count_kind(table, EventKind::runtime) == 9);
  CHECK(count_kind(table, EventKind::cpu_op) == 1);
  CHECK(count_kind(table, EventKind::user_annotation) == 2);
  CHECK(count_kind(table, EventKind::other) == 1);  // a range that ends on another thread
  CHECK(count_kind(table, EventKind::overhead) == 1);
  // The only damage is the range that is never closed.
  CHECK(damage_count(trace.report, "range without an end") == 1);
  CHECK(trace.report.dropped() == 1);
}

TEST_CASE("nsys_sqlite: names of calls lose their version, copies get PyTorch's names") {
  const LoadedTrace trace = read_tiny();
  CHECK(all_called(trace.events, "cudaLaunchKernel").size() == 2);
  CHECK(all_called(trace.events, "cudaMemsetAsync").size() == 1);
  CHECK(all_called(trace.events, "Memcpy DtoH (Device -> Pinned)").size() == 1);
  CHECK(all_called(trace.events, "Memset (Device)").size() == 1);
  CHECK(all_called(trace.events, "Command Buffer Full").size() == 1);
}

TEST_CASE("nsys_sqlite: times count from the first event, the session start is kept") {
  const LoadedTrace trace = read_tiny();
  const EventTable& table = trace.events;
  // The first recorded time is ProfilerStep#3 at 500; the first kernel starts at 2000.
  CHECK(table.info.first_time_ns == 500);
  CHECK(table.info.base_time_ns == 1779630014000000000);
  const EventId kernel = event_called(table, "void gemm<float>(float const*)");
  CHECK(table.start_ns[index(kernel)] == 1500);
  CHECK(table.duration_ns[index(kernel)] == 400);
  const Descriptor& work = descriptor_of(table, kernel);
  CHECK(work.grid == std::array<std::int32_t, 3>{16, 2, 1});
  CHECK(work.block == std::array<std::int32_t, 3>{256, 1, 1});
  CHECK(work.registers_per_thread == 32);
  CHECK(work.shared_memory_bytes == 1536);
}

TEST_CASE("nsys_sqlite: processes that count alike stay apart") {
  const LoadedTrace trace = read_tiny();
  const EventTable& table = trace.events;
  const auto launches = all_called(table, "cudaLaunchKernel");
  const auto kernels = all_called(table, "void gemm<float>(float const*)");
  REQUIRE(launches.size() == 2);
  REQUIRE(kernels.size() == 4);
  const auto correlation = [&](EventId event) { return table.correlation[index(event)]; };
  CHECK(correlation(launches[0]) == correlation(kernels[0]));
  CHECK(correlation(launches[1]) == correlation(kernels[3]));
  CHECK(correlation(launches[0]) != correlation(launches[1]));
  // Both use "device 0, stream 7", which is GPU 0 of the machine for one and GPU 1 for the other.
  CHECK(track_of(table, kernels[0]).device == 0);
  CHECK(track_of(table, kernels[3]).device == 1);
  CHECK(track_of(table, kernels[0]).process == 100);
  CHECK(track_of(table, kernels[3]).process == 200);
  CHECK(track_of(table, launches[1]).rank == 1);
  CHECK(has_warning(trace.report, "2 processes use devices (100, 200)"));
}

TEST_CASE("nsys_sqlite: a wait is matched with the record of its event") {
  const LoadedTrace trace = read_tiny();
  const EventTable& table = trace.events;
  REQUIRE(table.syncs.size() == 2);
  const SyncRecord& wait = table.syncs[0];
  CHECK(wait.kind == SyncKind::stream_wait);
  CHECK(wait.stream == 13);
  CHECK(wait.wait_on_stream == 7);  // of the record with the same eventSyncId, not the older one
  const EventId record = event_called(table, "cudaEventRecord");
  CHECK(wait.record_correlation == table.correlation[index(record)]);
  // Its type says "event", the call with its id says what it is.
  CHECK(table.syncs[1].kind == SyncKind::context_sync);
  CHECK(table.syncs[1].stream == -1);
}

TEST_CASE("nsys_sqlite: without an id of the record the last one before the wait counts") {
  const LoadedTrace trace = read_bytes(
      database(std::string(minimal_kernels) +
               "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (streamId, correlationId, eventId);"
               "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (7, 3, 5), (8, 6, 5), (9, 12, 5);"
               "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, streamId, "
               "correlationId, syncType, eventId);"
               "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1, 2, 0, 7, 10, 2, 5), "
               "(1, 2, 0, 7, 2, 2, 5), (3, 4, 0, 7, 11, 2, 77);"));
  REQUIRE(trace.events.syncs.size() == 3);
  CHECK(trace.events.syncs[0].wait_on_stream == 8);
  CHECK(trace.events.syncs[0].record_correlation == 6);
  CHECK(trace.events.syncs[1].wait_on_stream == -1);  // before every record
  CHECK(trace.events.syncs[2].wait_on_stream == -1);  // another event
}

TEST_CASE("nsys_sqlite: ranges of emit_nvtx become operators, others stay annotations") {
  const LoadedTrace trace = read_tiny();
  const EventTable& table = trace.events;
  const EventId op = event_called(table, "aten::mm");
  CHECK(table.kind[index(op)] == EventKind::cpu_op);
  CHECK(table.names[descriptor_of(table, op).dims] == "[[2, 3], [3, 4]]");
  REQUIRE(table.sequence_numbers.size() == 1);
  CHECK(table.sequence_numbers[0].event == op);
  CHECK(table.sequence_numbers[0].number == 12);
  const EventId step = event_called(table, "ProfilerStep#3");
  CHECK(table.kind[index(step)] == EventKind::user_annotation);
  CHECK(table.names[track_of(table, step).name] == "python3");
  CHECK(table.kind[index(event_called(table, "optimizer"))] == EventKind::user_annotation);
}

TEST_CASE("nsys_sqlite: allocations of device memory are on the thread of their call") {
  const LoadedTrace trace = read_tiny();
  const EventTable& table = trace.events;
  REQUIRE(table.memory.size() == 2);  // the third is pinned memory of the host
  CHECK(table.memory[0].bytes == 2048);
  CHECK(table.memory[1].bytes == -2048);
  CHECK(table.memory[0].address == 140000);
  CHECK(table.tracks[index(table.memory[0].track)].number == 101);
}

TEST_CASE("nsys_sqlite: devices are listed by number") {
  const LoadedTrace trace = read_tiny();
  REQUIRE(trace.events.info.devices.size() == 2);
  const DeviceProperties& device = trace.events.info.devices[0];
  CHECK(device.id == 0);
  CHECK(device.name == "NVIDIA H100");
  CHECK(device.multiprocessors == 132);
  CHECK(device.max_threads_per_multiprocessor == 2048);
  CHECK(device.shared_memory_per_multiprocessor == 233472);
}

TEST_CASE("nsys_sqlite: an old schema with few columns is enough") {
  const LoadedTrace trace = read_bytes(database(
      std::string(minimal_kernels) +
      "CREATE TABLE EXPORT_META_DATA (name, value);"
      "CREATE TABLE StringIds (id, value); INSERT INTO StringIds VALUES (1, 'saxpy'), (2, 'x');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, "
      "correlationId, nameId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 9, 67, 16777217, 1, 2), "
      "(2, 8, 0, 16777217, 1, 2);"));
  const EventTable& table = trace.events;
  REQUIRE(table.size() == 2);  // the call with its stack is the same call
  CHECK(has_warning(trace.report, "1 calls are recorded twice"));
  CHECK(table.correlation[0] == table.correlation[1]);
  CHECK(table.info.first_time_ns == 2);
  // The kernel names no process; there is only one that made calls.
  CHECK(track_of(table, event_called(table, "saxpy")).process == 1);
  CHECK(trace.report.dropped() == 0);
}

TEST_CASE("nsys_sqlite: graphs recorded as a whole are one piece of work, and it is said") {
  const LoadedTrace trace = read_bytes(
      database("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, streamId, "
               "correlationId, globalPid, graphId);"
               "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (5, 9, 0, 7, 3, 16777216, 4);"));
  CHECK(trace.events.name_of(EventId{}) == "CUDA graph 4");
  CHECK(has_warning(trace.report, "--cuda-graph-trace=node"));
}

TEST_CASE("nsys_sqlite: a rank that MPI names is the rank") {
  const LoadedTrace trace =
      read_bytes(database(std::string(minimal_kernels) +
                          "CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid);"
                          "INSERT INTO NVTX_EVENTS VALUES (1, NULL, 39, 'MPI Rank 3', 16777217);"));
  CHECK(trace.events.info.rank == 3);
}

TEST_CASE("nsys_sqlite: rows that cannot be are counted, the others are read") {
  const LoadedTrace trace =
      read_bytes(database(std::string(minimal_kernels) +
                          "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (20, 10, 0, 7, 2, 1), "
                          "(NULL, 10, 0, 7, 2, 1), ('soon', 10, 0, 7, 2, 1), "
                          "(9223372036854775807, 9223372036854775807, 0, 7, 2, 1), "
                          "(30, 9223372036854775807, 0, 7, 2, 1), (5, 6, -9223372036854775808, "
                          "-9223372036854775808, 9223372036854775807, 9223372036854775807);"));
  CHECK(trace.events.size() == 2);
  CHECK(damage_count(trace.report, "negative duration") == 1);
  CHECK(damage_count(trace.report, "no time") == 2);
  CHECK(damage_count(trace.report, "time out of range") == 2);
  CHECK(trace.report.damage[0].example == "CUPTI_ACTIVITY_KIND_KERNEL row 2");
  auto strict =
      try_bytes(database(std::string(minimal_kernels) +
                         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (20, 10, 0, 7, 2, 1);"),
                {.strict = true, .progress = {}});
  REQUIRE_FALSE(strict.ok());
  CHECK(strict.error().message ==
        "t.sqlite: 1 of 2 rows cannot be read, first CUPTI_ACTIVITY_KIND_KERNEL row 2: negative "
        "duration");
}

TEST_CASE("nsys_sqlite: a simulation of the export is a simulation of its work") {
  // One thread launches a kernel of 400 ns at 1000 and waits for the device from 1200.
  LoadedTrace trace = read_bytes(database(
      "CREATE TABLE StringIds (id, value); INSERT INTO StringIds VALUES (1, "
      "'cudaLaunchKernel_v7000'), (2, 'cudaDeviceSynchronize_v3020'), (3, 'gemm');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 1100, 16777217, 1, 1), "
      "(1200, 1600, 16777217, 2, 2);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, "
      "globalPid, shortName);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1150, 1550, 0, 7, 1, 16777216, 3);"));
  const auto built = build_graph(trace.events);
  REQUIRE_MESSAGE(built.ok(), built.error().message);
  CHECK(built->honesty.unexplained_device_count == 0);
  CHECK(built->honesty.span_ns == 600);
  CHECK(built->honesty.device_busy_ns == 400);
}

TEST_CASE("nsys_sqlite: other databases are refused by what they are") {
  const auto message = [](const std::string& sql) {
    auto loaded = try_bytes(database(sql));
    REQUIRE_FALSE(loaded.ok());
    return loaded.error().message;
  };
  CHECK(message("CREATE TABLE moz_places (id, url); CREATE TABLE b (x);") ==
        "t.sqlite: an SQLite database with the tables b, moz_places, expected those of Nsight "
        "Systems (CUPTI_ACTIVITY_KIND_KERNEL, NVTX_EVENTS, ...)");
  CHECK(message("CREATE TABLE t (x); DROP TABLE t;") ==
        "t.sqlite: an SQLite database without tables, expected those of Nsight Systems");
  CHECK(message("CREATE TABLE rocpd_kernel_dispatch_abc (x);") ==
        "t.sqlite: looks like a database of rocprofv3 (rocpd): record with --output-format json");
}

TEST_CASE("nsys_sqlite: views, virtual tables and computed columns are not run") {
  // Each of them would loop for hours.
  const std::string forever =
      "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS start, x + 1 AS "
      "end, 0 AS deviceId, 7 AS streamId FROM n";
  auto view =
      try_bytes(database("CREATE TABLE META_DATA_EXPORT (name, value); CREATE VIEW "
                         "CUPTI_ACTIVITY_KIND_KERNEL AS " +
                         forever));
  REQUIRE_MESSAGE(view.ok(), view.error().message);
  CHECK(view->events.size() == 0);
  auto computed = try_bytes(
      database("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER AS (start + "
               "length(zeroblob(900000000))));"
               "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start) VALUES (1);"));
  REQUIRE_MESSAGE(computed.ok(), computed.error().message);
  CHECK(computed->events.size() == 0);
  CHECK(damage_count(computed->report, "no time") == 1);
}

TEST_CASE("nsys_sqlite: bytes that are no database give one line") {
  for (const std::string& bytes :
       {std::string(), std::string("SQLite format 3\0", 16),
        std::string("SQLite format 3\0", 16) + std::string(84, '\0'),
        std::string("SQLite format 3\0", 16) + std::string(5000, '\xFF')}) {
    const auto loaded = try_bytes(bytes);
    REQUIRE_FALSE(loaded.ok());
    CHECK(loaded.error().message.starts_with("t.sqlite: "));
    CHECK(loaded.error().message.find('\n') == std::string::npos);
  }
}

TEST_CASE("nsys_sqlite: of a file that was cut off the whole pages are read") {
  // 4,000 rows in order, of which the later ones lie in the later pages.
  const std::string whole = database(
      std::string(minimal_kernels) +
      "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 4000) INSERT INTO "
      "CUPTI_ACTIVITY_KIND_KERNEL SELECT 10000 + x, 20000 + x, 0, 7, x, 1 FROM n;");
  const auto loaded = try_bytes(whole.substr(0, whole.size() / 2));
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  CHECK(loaded->events.size() > 1000);
  CHECK(loaded->events.size() < 3000);
  CHECK(damage_count(loaded->report, "rest of a damaged table") == 1);
  CHECK(has_warning(loaded->report, "CUPTI_ACTIVITY_KIND_KERNEL: unreadable after row"));
}

TEST_CASE("nsys_sqlite: damaged pages never crash, and what is kept is consistent") {
  const std::string whole = bytes_of(fixture);
  std::uint32_t state = 1;
  const auto random = [&] { return (state = state * 1664525U + 1013904223U) >> 8U; };
  std::size_t readable = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = whole;
    for (int change = 0; change < 1 + round % 8; ++change) {
      bytes[100 + random() % (bytes.size() - 100)] = static_cast<char>(random());
    }
    const auto loaded = try_bytes(bytes);
    if (!loaded.ok()) {
      CHECK(loaded.error().message.find('\n') == std::string::npos);
      continue;
    }
    ++readable;
    REQUIRE(loaded->report.kept <= loaded->report.events);
    for (std::size_t row = 0; row < loaded->events.size(); ++row) {
      REQUIRE(loaded->events.duration_ns[row] >= 0);
      REQUIRE(loaded->events.start_ns[row] >= 0);
    }
  }
  CHECK(readable > 100);
}

// Five tables of 4,000 rows, each a root over some 60 pages. The roots of four are changed so that
// every child is the root of the next table: 60^5 pages to walk, which would take years.
TEST_CASE("nsys_sqlite: pages that lead to each other without end are given up") {
  std::string sql = "PRAGMA page_size = 512; ";
  for (int i = 0; i < 5; ++i) {
    const std::string name = i == 0 ? "CUPTI_ACTIVITY_KIND_KERNEL" : "t" + std::to_string(i);
    sql += "CREATE TABLE " + name + " (start INTEGER, end INTEGER);" +
           "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 4000) INSERT "
           "INTO " +
           name + " SELECT 1000000 + x, 2000000 + x FROM n;";
  }
  std::string bytes = database(sql);
  std::vector<std::size_t> roots;
  for (std::size_t page = 1; page * 512 < bytes.size(); ++page) {
    if (bytes[page * 512] == 5) {  // an interior page of a table
      roots.push_back(page);
    }
  }
  REQUIRE(roots.size() >= 5);
  const auto set_child = [&](std::size_t at, std::size_t page) {
    const std::size_t number = page + 1;
    for (std::size_t i = 0; i < 4; ++i) {
      bytes[at + i] = static_cast<char>((number >> (8 * (3 - i))) & 0xFFU);
    }
  };
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
  for (std::size_t i = 0; i + 1 < 5; ++i) {
    const std::size_t start = roots[i] * 512;
    const std::size_t cells = byte(start + 3) * 256U + byte(start + 4);
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const std::size_t pointer = start + 12 + 2 * cell;
      set_child(start + byte(pointer) * 256U + byte(pointer + 1), roots[i + 1]);
    }
    set_child(start + 8, roots[i + 1]);
  }
  const auto loaded = try_bytes(bytes);
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  CHECK(damage_count(loaded->report, "rest of a damaged table") == 1);
  CHECK(has_warning(loaded->report, "more rows than a file of its size can contain"));
}

TEST_CASE("nsys_sqlite: the real exports are read, all of them") {
  struct Expected {
    const char* file;
    std::size_t kernels, runtime, copies, syncs;
  };
  // Counts of the tables, by the sqlite3 program. saxpy has 95 calls, 38 of them twice.
  for (const Expected& expected :
       {Expected{"train_2gpu_1s_window", 3442, 5796, 904, 244},
        Expected{"tiny_rtx3080", 2, 9, 1, 1}, Expected{"nvfuser_report1", 18, 990, 3, 3},
        Expected{"cloverleaf_a100_nsys2024", 1312, 3048, 279, 1312},
        Expected{"saxpy_mpi_a100_oldschema", 5, 57, 15, 0}}) {
    const std::string path =
        std::string(FORETRACE_SHARED_DIR "/traces/nsys_sqlite/") + expected.file + ".sqlite.gz";
    if (!std::filesystem::exists(path)) {
      MESSAGE("SKIPPED: no " << path);
      continue;
    }
    CAPTURE(expected.file);
    const auto loaded = read_trace(path, {});
    REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
    CHECK(count_kind(loaded->events, EventKind::kernel) == expected.kernels);
    CHECK(count_kind(loaded->events, EventKind::runtime) == expected.runtime);
    CHECK(count_kind(loaded->events, EventKind::copy) == expected.copies);
    CHECK(loaded->events.syncs.size() == expected.syncs);
    CHECK(loaded->report.dropped() == 0);
  }
}

}  // namespace
}  // namespace foretrace::trace
