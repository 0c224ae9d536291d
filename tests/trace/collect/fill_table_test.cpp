// Records of every kind, made by hand, as the events they say.
#include <string>

#include <doctest/doctest.h>

#include "tests/trace/collect/record_helpers.h"
#include "tests/trace/formats/read_helpers.h"

namespace foretrace::trace::collector {
namespace {

// Times of records start here, so that none is 0, which says "no time".
constexpr std::int64_t t0 = 1'000'000;

template <typename Work>
Work work_at(std::int64_t start, std::int64_t end, std::uint32_t correlation) {
  Work work;
  work.start = t0 + start;
  work.end = t0 + end;
  work.device = 1;
  work.context = 4;
  work.stream = 7;
  work.correlation = correlation;
  return work;
}

ApiRecord call_at(std::int64_t start, std::int64_t end, std::uint32_t correlation,
                  TextNumber name) {
  ApiRecord api;
  api.start = t0 + start;
  api.end = t0 + end;
  api.name = name;
  api.process = 100;
  api.thread = 101;
  api.correlation = correlation;
  return api;
}

TEST_CASE("collector: a call is an event on its thread, under the name that profilers give it") {
  Recording r;
  r.apis = {call_at(0, 5, 7, add_text(r, "cudaLaunchKernel_ptsz_v7000")),
            call_at(10, 12, 8, add_text(r, "cudaMalloc_v3020"))};
  const LoadedTrace trace = table_of(r);
  const EventTable& table = trace.events;
  REQUIRE(table.size() == 2);
  CHECK(table.name_of(EventId{0}) == "cudaLaunchKernel");
  CHECK(table.name_of(EventId{1}) == "cudaMalloc");
  CHECK(table.kind[0] == EventKind::runtime);
  CHECK(table.start_ns[0] == 0);
  CHECK(table.start_ns[1] == 10);
  CHECK(table.duration_ns[0] == 5);
  CHECK(table.correlation[0] == 7);
  const Track& track = track_of(table, EventId{0});
  CHECK(track.kind == Track::Kind::host_thread);
  CHECK(track.process == 100);
  CHECK(track.number == 101);
  CHECK(trace.report.events == 2);
  CHECK(trace.report.kept == 2);
}

TEST_CASE("collector: a driver call inside a runtime call is the same call; alone it counts") {
  Recording r;
  ApiRecord inside = call_at(1, 4, 7, add_text(r, "cuLaunchKernel"));
  inside.is_driver = true;
  ApiRecord alone = call_at(6, 9, 8, add_text(r, "cuLaunchKernel"));
  alone.is_driver = true;
  r.apis = {call_at(0, 5, 7, add_text(r, "cudaLaunchKernel")), inside, alone};
  const LoadedTrace trace = table_of(r);
  REQUIRE(trace.events.size() == 2);
  CHECK(trace.events.name_of(EventId{0}) == "cudaLaunchKernel");
  CHECK(trace.events.name_of(EventId{1}) == "cuLaunchKernel");
}

TEST_CASE(
    "collector: a kernel has its readable name, its stream, and all that sets its occupancy") {
  Recording r;
  auto kernel = work_at<KernelRecord>(3, 13, 7);
  kernel.name = add_text(r, "_Z3addPfS_");
  kernel.grid = {10, 2, 1};
  kernel.block = {128, 1, 1};
  kernel.registers_per_thread = 40;
  kernel.static_shared_bytes = 1024;
  kernel.dynamic_shared_bytes = 512;
  r.kernels = {kernel};
  const LoadedTrace trace = table_of(r);
  const EventTable& table = trace.events;
  REQUIRE(table.size() == 1);
  CHECK(table.kind[0] == EventKind::kernel);
  CHECK(table.name_of(EventId{0}) == "add(float*, float*)");
  CHECK(table.duration_ns[0] == 10);
  const Track& track = track_of(table, EventId{0});
  CHECK(track.kind == Track::Kind::stream);
  CHECK(track.device == 1);
  CHECK(track.number == 7);
  const Descriptor& d = descriptor_of(table, EventId{0});
  CHECK(d.grid == std::array<std::int32_t, 3>{10, 2, 1});
  CHECK(d.block == std::array<std::int32_t, 3>{128, 1, 1});
  CHECK(d.registers_per_thread == 40);
  CHECK(d.shared_memory_bytes == 1536);
}

TEST_CASE("collector: nodes of a graph keep the launch they share and their own number") {
  Recording r;
  for (std::uint64_t node = 1; node <= 2; ++node) {
    auto kernel = work_at<KernelRecord>(static_cast<std::int64_t>(node) * 10,
                                        static_cast<std::int64_t>(node) * 10 + 5, 33);
    kernel.name = add_text(r, "k");
    kernel.graph = 5;
    kernel.graph_node = node;
    r.kernels.push_back(kernel);
  }
  r.apis = {call_at(0, 4, 33, add_text(r, "cudaGraphLaunch_v10000"))};
  const EventTable table = table_of(r).events;
  REQUIRE(table.size() == 3);
  CHECK(table.name_of(EventId{0}) == "cudaGraphLaunch");
  CHECK(table.correlation[1] == 33);
  CHECK(table.correlation[2] == 33);
  CHECK(table.names[descriptor_of(table, EventId{2}).text] ==
        R"({"graph id": 5, "graph node id": 2})");
}

TEST_CASE("collector: copies and sets are named by direction and place, with their bytes") {
  Recording r;
  auto copy = work_at<CopyRecord>(0, 5, 1);
  copy.bytes = 4096;
  copy.kind = CopyKind::host_to_device;
  copy.from = MemoryPlace::pageable;
  copy.to = MemoryPlace::device;
  auto odd = work_at<CopyRecord>(6, 7, 2);
  odd.kind = static_cast<CopyKind>(99);
  r.copies = {copy, odd};
  auto set = work_at<SetRecord>(8, 9, 3);
  set.bytes = 64;
  set.place = MemoryPlace::device;
  r.sets = {set};
  const EventTable table = table_of(r).events;
  REQUIRE(table.size() == 3);
  CHECK(table.name_of(EventId{0}) == "Memcpy HtoD (Pageable -> Device)");
  CHECK(table.kind[0] == EventKind::copy);
  CHECK(descriptor_of(table, EventId{0}).bytes == 4096);
  CHECK(table.name_of(EventId{1}) == "Memcpy Unknown (Unknown -> Unknown)");
  CHECK(table.name_of(EventId{2}) == "Memset (Device)");
  CHECK(table.kind[2] == EventKind::set);
}

TEST_CASE("collector: a graph that is recorded as a whole is one piece of device work") {
  Recording r;
  r.graphs = {work_at<GraphRecord>(0, 50, 3)};
  r.graphs[0].graph = 12;
  const EventTable table = table_of(r).events;
  REQUIRE(table.size() == 1);
  CHECK(table.name_of(EventId{0}) == "CUDA graph 12, whole");
  CHECK(table.kind[0] == EventKind::kernel);
}

TEST_CASE("collector: a wait for an event finds the recording that it waits for") {
  Recording r;
  r.contexts = {{4, 1, 7}};
  // Event 9 is recorded on stream 20 and again on stream 21; the wait stands between them.
  r.events = {{60, 4, 21, 9, 0}, {50, 4, 20, 9, 0}};
  SynchronizationRecord wait;
  wait.start = t0;
  wait.end = t0 + 3;
  wait.kind = WaitKind::stream_wait_event;
  wait.context = 4;
  wait.stream = 30;
  wait.event = 9;
  wait.correlation = 55;
  SynchronizationRecord early = wait;
  early.correlation = 40;
  SynchronizationRecord stream = wait;
  stream.kind = WaitKind::stream_synchronize;
  stream.event = -1;
  SynchronizationRecord foreign = wait;
  foreign.context = 5;
  foreign.kind = WaitKind::context_synchronize;
  r.synchronizations = {wait, early, stream, foreign};
  const EventTable table = table_of(r).events;
  REQUIRE(table.syncs.size() == 4);
  CHECK(table.syncs[0].kind == SyncKind::stream_wait);
  CHECK(table.syncs[0].device == 1);
  CHECK(table.syncs[0].stream == 30);
  CHECK(table.syncs[0].wait_on_stream == 20);
  CHECK(table.syncs[0].record_correlation == 50);
  CHECK(table.syncs[0].duration_ns == 3);
  CHECK(table.syncs[1].record_correlation == -1);  // nothing was recorded before it
  CHECK(table.syncs[2].kind == SyncKind::stream_sync);
  CHECK(table.syncs[2].record_correlation == -1);
  CHECK(table.syncs[3].kind == SyncKind::context_sync);
  CHECK(table.syncs[3].device == -1);  // a context nobody described
}

TEST_CASE("collector: where CUPTI numbers the recordings of an event, the number decides") {
  Recording r;
  r.events = {{50, 4, 20, 9, 1001}, {52, 4, 21, 9, 1002}};
  SynchronizationRecord wait;
  wait.start = t0;
  wait.end = t0;
  wait.kind = WaitKind::event_synchronize;
  wait.context = 4;
  wait.event = 9;
  wait.correlation = 55;
  wait.event_record = 1001;
  r.synchronizations = {wait};
  const EventTable table = table_of(r).events;
  REQUIRE(table.syncs.size() == 1);
  CHECK(table.syncs[0].record_correlation == 50);  // the last one before it would be 52
  CHECK(table.syncs[0].wait_on_stream == 20);
}

TEST_CASE("collector: ranges of NVTX are annotations on their thread, begun and ended by id") {
  Recording r;
  const TextNumber step = add_text(r, "step 3");
  const TextNumber layer = add_text(r, "layer");
  const TextNumber domain = add_text(r, "NCCL");
  const auto at = [](std::int64_t time, std::uint64_t id, RangePhase phase, TextNumber name,
                     TextNumber in) {
    return RangeRecord{t0 + time, id, name, in, 100, 101, phase};
  };
  // The order of records is not that of their times.
  r.ranges = {at(20, 2, RangePhase::end, 0, 0),           at(0, 1, RangePhase::begin, step, 0),
              at(5, 2, RangePhase::begin, layer, domain), at(30, 1, RangePhase::end, 0, 0),
              at(40, 3, RangePhase::begin, layer, 0),     at(41, 4, RangePhase::end, 0, 0),
              at(42, 5, RangePhase::mark, layer, 0)};
  const LoadedTrace trace = table_of(r);
  const EventTable& table = trace.events;
  REQUIRE(table.size() == 2);
  CHECK(table.name_of(EventId{0}) == "step 3");
  CHECK(table.kind[0] == EventKind::user_annotation);
  CHECK(table.duration_ns[0] == 30);
  CHECK(table.name_of(EventId{1}) == "layer");
  CHECK(table.duration_ns[1] == 15);
  CHECK(table.names[descriptor_of(table, EventId{1}).text] == R"({"domain": "NCCL"})");
  CHECK(track_of(table, EventId{1}).number == 101);
  CHECK(damage_count(trace.report, "range without an end") == 1);
  CHECK(damage_count(trace.report, "end of a range that never began") == 1);
}

TEST_CASE(
    "collector: of single steps nothing later is kept, nor work whose end is not to be trusted") {
  Recording r;
  const TextNumber launch = add_text(r, "cudaLaunchKernel");
  const TextNumber kernel = add_text(r, "add");
  const TextNumber layer = add_text(r, "layer");
  const auto mark = [&r](std::int64_t time, RangePhase phase, const char* name) {
    return RangeRecord{t0 + time, 0, add_text(r, name), 0, 100, 101, phase};
  };
  r.ranges = {mark(0, RangePhase::step, "step 5"), mark(100, RangePhase::step, "step 6"),
              mark(200, RangePhase::steps_over, "step 7"),
              mark(300, RangePhase::switched_off, "step 8"),
              // A range that is open at the end is cut there; one that began before is not known.
              RangeRecord{t0 + 150, 9, layer, 0, 100, 101, RangePhase::begin},
              RangeRecord{t0 + 250, 9, 0, 0, 100, 101, RangePhase::end},
              RangeRecord{t0 + 10, 8, 0, 0, 100, 101, RangePhase::end}};
  r.apis = {call_at(110, 111, 1, launch), call_at(180, 181, 2, launch),
            call_at(190, 191, 3, launch), call_at(210, 211, 4, launch)};
  r.kernels = {work_at<KernelRecord>(115, 120, 1), work_at<KernelRecord>(185, 260, 2),
               work_at<KernelRecord>(195, 45'000, 3), work_at<KernelRecord>(215, 220, 4)};
  for (KernelRecord& record : r.kernels) {
    record.name = kernel;
  }
  const LoadedTrace trace = table_of(r);
  const EventTable& table = trace.events;
  const auto count = [&table](std::string_view name) {
    std::size_t found = 0;
    for (std::size_t row = 0; row < table.size(); ++row) {
      found += table.name_of(make_id<EventId>(row)) == name ? 1 : 0;
    }
    return found;
  };
  CHECK(count("cudaLaunchKernel") == 3);
  CHECK(count("add") == 2);
  const EventId first = event_called(table, "step 5");
  const EventId last = event_called(table, "step 6");
  CHECK(table.duration_ns[index(first)] == 100);
  CHECK(table.duration_ns[index(last)] == 100);
  CHECK(count("step 7") == 0);
  CHECK(table.duration_ns[index(event_called(table, "layer"))] == 50);
  CHECK(damage_count(trace.report, "GPU work in progress when recording was switched off") == 1);
  CHECK(trace.report.damage.size() == 1);
}

TEST_CASE("collector: external ids go to every event of their call") {
  Recording r;
  r.apis = {call_at(0, 5, 7, add_text(r, "cudaLaunchKernel"))};
  r.kernels = {work_at<KernelRecord>(6, 7, 7)};
  r.kernels[0].name = add_text(r, "k");
  r.externals = {{777, 7, 3}, {std::uint64_t{1} << 40U, 8, 3}};
  const LoadedTrace trace = table_of(r);
  REQUIRE(trace.events.size() == 2);
  CHECK(trace.events.external_id[0] == 777);
  CHECK(trace.events.external_id[1] == 777);
  CHECK(damage_count(trace.report, "external id beyond 32 bits") == 1);
}

TEST_CASE("collector: what was recorded of program and machine is told in words") {
  Recording r;
  r.facts = {{"content", "records"}, {"command", "python train.py"},
             {"process", "4711"},    {"started", "1700000000"},
             {"driver", "13.0"},     {"cupti", "130001"}};
  // The clocks are 1,000 ns apart at first and 3,500 at last.
  r.clocks = {{100, 1100, 0}, {200, 3700, 0}};
  const LoadedTrace trace = table_of(r);
  using Facts = std::vector<std::pair<std::string, std::string>>;
  CHECK(trace.events.info.environment == Facts{{"command", "python train.py"},
                                               {"process", "4711"},
                                               {"CUDA driver", "13.0"},
                                               {"CUPTI", "130001"},
                                               {"started", "2023-11-14 22:13:20 UTC"},
                                               {"clocks", "compared 2 times, within 2.5 us"}});
  CHECK(table_of(Recording{}).events.info.environment == Facts{{"clocks", "never compared"}});
}

TEST_CASE("collector: recording's own time is overhead, threads and devices have their names") {
  Recording r;
  r.overheads = {{t0, t0 + 9, add_text(r, "Activity Buffer Request"), 100, 101}};
  r.threads = {{100, 101, add_text(r, "pt_autograd_0")}};
  DeviceRecord device;
  device.id = 1;
  device.name = add_text(r, "NVIDIA H100 80GB HBM3");
  device.memory_bytes = 85'899'345'920;
  device.multiprocessors = 132;
  device.compute_major = 9;
  device.warp_size = 32;
  r.devices = {device};
  r.facts = {{"rank", "3"}, {"world size", "8"}};
  const EventTable table = table_of(r).events;
  REQUIRE(table.size() == 1);
  CHECK(table.kind[0] == EventKind::overhead);
  CHECK(table.names[track_of(table, EventId{0}).name] == "pt_autograd_0");
  CHECK(track_of(table, EventId{0}).rank == 3);
  REQUIRE(table.info.devices.size() == 1);
  CHECK(table.info.devices[0].name == "NVIDIA H100 80GB HBM3");
  CHECK(table.info.devices[0].multiprocessors == 132);
  CHECK(table.info.devices[0].rank == 3);
  CHECK(table.info.rank == 3);
  CHECK(table.info.world_size == 8);
}

TEST_CASE("collector: memory is on the thread of its call, and what is held adds up") {
  Recording r;
  r.apis = {call_at(0, 5, 7, add_text(r, "cudaMalloc"))};
  MemoryRecord take;
  take.time = t0 + 4;
  take.address = 0x7f0000000000;
  take.bytes = 1000;
  take.process = 100;
  take.device = 1;
  take.correlation = 7;
  take.place = MemoryPlace::device;
  MemoryRecord more = take;
  more.bytes = 500;
  MemoryRecord give = take;
  give.is_release = true;
  MemoryRecord host = take;
  host.place = MemoryPlace::pinned;
  r.memory = {take, more, give, host};
  const EventTable table = table_of(r).events;
  REQUIRE(table.memory.size() == 4);
  CHECK(table.tracks[index(table.memory[0].track)].number == 101);
  CHECK(table.memory[0].device_type == 1);
  CHECK(table.memory[0].device == 1);
  CHECK(table.memory[1].total_reserved == 1500);
  CHECK(table.memory[2].bytes == -1000);
  CHECK(table.memory[2].total_reserved == 500);
  CHECK(table.memory[3].device_type == 0);
  CHECK(table.memory[3].total_reserved == -1);
}

TEST_CASE("collector: the clock is that of the machine, and one bad sample does not count") {
  Recording r;
  r.apis = {call_at(0, 5, 7, add_text(r, "cudaMalloc"))};
  constexpr std::int64_t since_1970 = 1'760'000'000'000'000'000;
  r.clocks = {{t0, since_1970, 5},
              {t0 + 100, since_1970 + 101, 105},
              {t0 + 200, since_1970 + 900'200, 205}};  // interrupted between its two readings
  const EventTable table = table_of(r).events;
  CHECK(table.info.first_time_ns == since_1970 + 1);  // the middle of 0, 1 and 900,000
  CHECK(table.start_ns[0] == 0);
}

TEST_CASE("collector: records without usable times are dropped with their reason") {
  Recording r;
  const TextNumber name = add_text(r, "cudaMalloc");
  r.apis = {call_at(0, 5, 7, name), call_at(-t0, 5, 8, name), call_at(5, 0, 9, name),
            call_at(0, std::int64_t{1} << 62, 10, name)};
  SynchronizationRecord never;
  r.synchronizations = {never};
  MemoryRecord no_time;
  r.memory = {no_time};
  r.kernels = {work_at<KernelRecord>(0, 1, 1)};
  r.kernels[0].name = 99;
  const LoadedTrace trace = table_of(r);
  CHECK(trace.events.size() == 2);
  CHECK(damage_count(trace.report, "record without a time") == 3);
  CHECK(damage_count(trace.report, "record that ends before it starts") == 1);
  CHECK(damage_count(trace.report, "record with a time out of range") == 1);
  CHECK(damage_count(trace.report, "text that is missing") == 1);
}

TEST_CASE("collector: what was lost while recording is told, by place and kind") {
  Recording r;
  r.apis = {call_at(0, 5, 7, add_text(r, "cudaMalloc"))};
  r.drops = {{5000, 1, DropPlace::writer}, {12, 0, DropPlace::recorder}, {0, 2, DropPlace::writer}};
  const LoadedTrace trace = table_of(r);
  CHECK(damage_count(trace.report, "records of kernels the disk was too slow for") == 5000);
  CHECK(damage_count(trace.report, "records lost by CUPTI while recording") == 12);
  CHECK(trace.report.dropped() == 5012);
  CHECK(trace.report.kept <= trace.report.events);
}

}  // namespace
}  // namespace foretrace::trace::collector
