// Facts of the format from 2020 to 2026, on the made-up traces of tests/fixtures/kineto_json.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/trace/formats/read_helpers.h"

namespace foretrace::trace {
namespace {

std::size_t rows_of(const EventTable& table, EventKind kind) {
  return static_cast<std::size_t>(std::count(table.kind.begin(), table.kind.end(), kind));
}

// Rows as text: everything that must not depend on how a file is spelled.
std::vector<std::string> rows_as_text(const EventTable& table) {
  std::vector<std::string> rows;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const auto event = make_id<EventId>(row);
    const Track& track = track_of(table, event);
    const Descriptor& descriptor = descriptor_of(table, event);
    rows.push_back(fmt::format(
        "{} {} {}/{}/{}/{} {}+{} c{} e{} {} {} b{} g{}", static_cast<int>(table.kind[row]),
        table.name_of(event), static_cast<int>(track.kind), track.device, track.process,
        track.number, table.start_ns[row], table.duration_ns[row], table.correlation[row],
        table.external_id[row], table.names[descriptor.types], descriptor.bytes,
        descriptor.block[0], descriptor.grid[0]));
  }
  return rows;
}

constexpr std::int64_t us = 1000;

}  // namespace

TEST_CASE("kineto: every kind of event of 2024 finds its place") {
  const LoadedTrace trace = read_fixture("training_2024.json");
  const EventTable& table = trace.events;
  CHECK(table.info.format == "kineto_json");
  CHECK(rows_of(table, EventKind::cpu_op) == 2);
  CHECK(rows_of(table, EventKind::user_annotation) == 1);
  CHECK(rows_of(table, EventKind::runtime) == 6);
  CHECK(rows_of(table, EventKind::python_function) == 1);
  CHECK(rows_of(table, EventKind::overhead) == 1);
  CHECK(rows_of(table, EventKind::kernel) == 2);
  CHECK(rows_of(table, EventKind::copy) == 1);
  CHECK(rows_of(table, EventKind::set) == 1);
  CHECK(rows_of(table, EventKind::gpu_annotation) == 1);
  CHECK(rows_of(table, EventKind::other) == 1);  // the span of the profiler itself
  CHECK(table.syncs.size() == 2);
  CHECK(table.flows.size() == 2);
  CHECK(table.memory.size() == 2);
  CHECK(table.sequence_numbers.size() == 2);
  CHECK(trace.report.damage.empty());
  CHECK(trace.report.warnings.empty());
  // 30 elements: 17 rows, 2 + 2 + 2 side rows; 3 arrows, 3 names and 1 mark carry nothing.
  CHECK(trace.report.events == table.size() + 6 + 3 + 3 + 1);
  CHECK(trace.report.kept == table.size() + 6);
}

TEST_CASE("kineto: numbers of calls are kept where there are any, and 0 is none") {
  const LoadedTrace loaded = read_events(
      R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1,
          "args": {"Record function id": 0, "External id": 5}},
         {"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 1, "ts": 3, "dur": 1,
          "args": {"External id": 6, "Record function id": 718, "Ev Idx": 0}},
         {"ph": "X", "cat": "cpu_op", "name": "c", "pid": 1, "tid": 1, "ts": 5, "dur": 1,
          "args": {"Record function id": 4294967296}},
         {"ph": "X", "cat": "cpu_op", "name": "d", "pid": 1, "tid": 1, "ts": 7, "dur": 1,
          "args": {"Record function id": "719"}})");
  const std::vector<RecordFunction>& calls = loaded.events.record_functions;
  REQUIRE(calls.size() == 2);
  CHECK(loaded.events.name_of(calls[0].event) == "b");
  CHECK(calls[0].number == 718);
  CHECK(loaded.events.name_of(calls[1].event) == "d");  // numbers may be written as texts
  CHECK(calls[1].number == 719);
}

TEST_CASE("kineto: what is said of program and machine is kept in words") {
  using Facts = std::vector<std::pair<std::string, std::string>>;
  const auto facts = [](const std::string& top) {
    return read_text(R"({"schemaVersion": 1, )" + top +
                     R"("traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1,
                        "tid": 1, "ts": 1, "dur": 1}]})")
        .events.info.environment;
  };
  CHECK(facts("").empty());
  CHECK(facts(R"("cuda_driver_version": 12080, "cuda_runtime_version": 12060, "cupti_version": 24,
                 "with_stack": 1, "record_shapes": 1, "with_flops": 0,
                 "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8,
                                     "pg_count": 3, "nccl_version": "2.27.5"},)") ==
        Facts{{"CUDA driver", "12.8"},
              {"CUDA runtime", "12.6"},
              {"CUPTI", "24"},
              {"backend", "nccl"},
              {"NCCL", "2.27.5"},
              {"process groups", "3"},
              {"profiled with", "shapes + stacks"}});
  CHECK(facts(R"("hip_runtime_version": 60443484, "hip_driver_version": 0,)") ==
        Facts{{"HIP runtime", "6.4.43484"}});
  CHECK(facts(R"("distributedInfo": 7, "cuda_driver_version": "new",)").empty());
  // What was converted says it as it was said.
  CHECK(facts(R"("environment": {"driver": "a/b \"c\""}, "cuda_driver_version": 12080,)") ==
        Facts{{"driver", "a/b \"c\""}});
}

TEST_CASE("kineto: order of keys, blanks and compression do not change what is read") {
  const LoadedTrace reference = read_fixture("training_2024.json");
  for (const char* name :
       {"training_2024_minified.json", "training_2024_backwards.json", "training_2024.json.gz"}) {
    const LoadedTrace other = read_fixture(name);
    CHECK(rows_as_text(other.events) == rows_as_text(reference.events));
    CHECK(other.events.info.rank == 1);
    CHECK(other.events.info.base_time_ns == 1719535878000000000);
    CHECK(other.events.tracks.size() == reference.events.tracks.size());
  }
}

TEST_CASE("kineto: times are exact nanoseconds from the smallest timestamp") {
  const EventTable table = read_fixture("training_2024.json").events;
  // A double of 7656582822010125 ns in us would be off by up to 0.5 ns at best, here by more.
  CHECK(table.info.first_time_ns == 7656582822000000);
  CHECK(table.info.resolution_ns == 1);
  const EventId addmm = event_called(table, "aten::addmm");
  CHECK(table.start_ns[index(addmm)] == 10'125);
  CHECK(table.duration_ns[index(addmm)] == 80'250);
  const EventId kernel = event_called(table, "ampere_sgemm_64x32");
  CHECK(table.start_ns[index(kernel)] == 55 * us);
  CHECK(table.duration_ns[index(kernel)] == 40'123);
  CHECK(table.end_ns(kernel) == 95'123);
}

TEST_CASE("kineto: whole microseconds are noticed") {
  CHECK(read_fixture("list_2020.json").events.info.resolution_ns == 1000);
  CHECK(read_fixture("rocm.json").events.info.resolution_ns == 1);
}

TEST_CASE("kineto: what the file says about run and devices") {
  const TraceInfo info = read_fixture("training_2024.json").events.info;
  CHECK(info.rank == 1);
  CHECK(info.world_size == 2);
  CHECK(info.base_time_ns == 1719535878000000000);
  REQUIRE(info.devices.size() == 1);
  CHECK(info.devices[0].name == "NVIDIA A100-SXM4-40GB");
  CHECK(info.devices[0].rank == 1);
  CHECK(info.devices[0].total_memory_bytes == 42481549312);
  CHECK(info.devices[0].multiprocessors == 108);
  CHECK(info.devices[0].compute_major == 8);
  CHECK(info.devices[0].max_threads_per_multiprocessor == 2048);
  CHECK(info.devices[0].registers_per_multiprocessor == 65536);
  CHECK(info.devices[0].shared_memory_per_multiprocessor == 167936);
  CHECK(info.devices[0].warp_size == 32);
  CHECK(!info.is_hip);
}

TEST_CASE("kineto: without a rank the rank is unknown and tracks count as rank 0") {
  const EventTable table = read_fixture("list_2020.json").events;
  CHECK(table.info.rank == -1);
  CHECK(table.tracks[0].rank == 0);
  CHECK(read_fixture("training_2024.json").events.tracks[0].rank == 1);
}

TEST_CASE("kineto: threads and streams get their numbers and names") {
  const EventTable table = read_fixture("training_2024.json").events;
  const Track& host = track_of(table, event_called(table, "aten::addmm"));
  CHECK(host.kind == Track::Kind::host_thread);
  CHECK(host.process == 4100);
  CHECK(host.number == 4100);
  CHECK(table.names[host.name] == "thread 4100 (python)");
  const Track& stream = track_of(table, event_called(table, "triton_red_fused_0"));
  CHECK(stream.kind == Track::Kind::stream);
  CHECK(stream.device == 0);
  CHECK(stream.number == 7);
  CHECK(table.names[stream.name] == "stream 7 ");
  // The annotation on the device has no arguments that name its stream: pid and tid do.
  const EventId annotation = EventId{static_cast<std::uint32_t>(
      std::find(table.kind.begin(), table.kind.end(), EventKind::gpu_annotation) -
      table.kind.begin())};
  CHECK(table.track[index(annotation)] ==
        table.track[index(event_called(table, "triton_red_fused_0"))]);
  const Track& spans = track_of(table, event_called(table, "PyTorch Profiler (0)"));
  CHECK(spans.kind == Track::Kind::other);
  CHECK(table.names[spans.process_text] == "Spans");
}

TEST_CASE("kineto: cuda_sync records keep who waits for what") {
  const EventTable table = read_fixture("training_2024.json").events;
  const SyncRecord& wait = table.syncs[0];
  CHECK(wait.kind == SyncKind::stream_wait);
  CHECK(wait.stream == 20);
  CHECK(wait.wait_on_stream == 7);
  CHECK(wait.record_correlation == 102);
  CHECK(wait.correlation == 103);
  CHECK(wait.start_ns == 53 * us);
  CHECK(wait.duration_ns == us);
  const SyncRecord& sync = table.syncs[1];
  CHECK(sync.kind == SyncKind::stream_sync);
  CHECK(sync.stream == -1);  // 4294967295 in older files
  CHECK(sync.wait_on_stream == -1);
  CHECK(sync.record_correlation == -1);
}

TEST_CASE("kineto: only forward -> backward arrows are kept") {
  const EventTable table = read_fixture("training_2024.json").events;
  CHECK(table.flows[0].is_start);
  CHECK(table.flows[0].id == 1);
  CHECK(table.flows[0].time_ns == 10'125);
  CHECK(table.flows[0].track == table.track[index(event_called(table, "aten::addmm"))]);
  CHECK(!table.flows[1].is_start);
  CHECK(table.flows[1].track == table.track[index(event_called(table, "AddmmBackward0"))]);
}

TEST_CASE("kineto: sequence numbers join forward and backward operators") {
  const EventTable table = read_fixture("training_2024.json").events;
  CHECK(table.sequence_numbers[0].event == event_called(table, "aten::addmm"));
  CHECK(table.sequence_numbers[0].number == 41);
  CHECK(table.sequence_numbers[0].forward_thread == 0);
  CHECK(table.sequence_numbers[1].event == event_called(table, "AddmmBackward0"));
  CHECK(table.sequence_numbers[1].number == 41);
  CHECK(table.sequence_numbers[1].forward_thread == 1);
}

TEST_CASE("kineto: memory events keep every field of every age") {
  const EventTable table = read_fixture("training_2024.json").events;
  const MemoryEvent& allocated = table.memory[0];
  CHECK(allocated.time_ns == 20 * us);
  CHECK(allocated.bytes == 8192);
  CHECK(allocated.address == 139000000000000);
  CHECK(allocated.total_allocated == 8192);
  CHECK(allocated.total_reserved == 2097152);
  CHECK(allocated.device_type == 1);
  CHECK(allocated.device == 0);
  CHECK(table.memory[1].bytes == -8192);

  const EventTable old = read_fixture("memory_2021.json").events;
  REQUIRE(old.memory.size() == 1);
  CHECK(old.memory[0].bytes == 4);
  CHECK(old.memory[0].device == -1);
  CHECK(old.memory[0].address == 0);
  CHECK(old.memory[0].total_allocated == -1);
}

TEST_CASE("kineto: a thread written as a number and as a text is the same thread") {
  const EventTable table = read_fixture("memory_2021.json").events;
  CHECK(table.tracks.size() == 1);
  CHECK(table.memory[0].track == table.track[0]);
  CHECK(table.tracks[0].number == 25738);
}

TEST_CASE("kineto: the list of 2020 with its capitalised categories") {
  const LoadedTrace trace = read_fixture("list_2020.json");
  const EventTable& table = trace.events;
  CHECK(trace.report.warnings.empty());
  CHECK(rows_of(table, EventKind::cpu_op) == 1);
  CHECK(rows_of(table, EventKind::runtime) == 1);
  CHECK(rows_of(table, EventKind::kernel) == 1);
  CHECK(rows_of(table, EventKind::copy) == 1);
  // Steps were operators then.
  CHECK(table.kind[index(event_called(table, "ProfilerStep#5"))] == EventKind::user_annotation);
  const EventId kernel = event_called(table, "elementwise_kernel");
  CHECK(table.correlation[index(kernel)] == 60001);
  CHECK(table.external_id[index(kernel)] == 2);  // "external id" then
  CHECK(track_of(table, kernel).number == 7);    // tid is "stream 7"
  CHECK(track_of(table, event_called(table, "aten::empty")).number == 4093687616);
  const Descriptor& copy =
      descriptor_of(table, event_called(table, "Memcpy HtoD (Pageable -> Device)"));
  CHECK(copy.bytes == 19267584);
}

TEST_CASE("kineto: HIP calls and their arguments") {
  const EventTable table = read_fixture("rocm.json").events;
  CHECK(table.info.is_hip);
  const EventId kernel = event_called(table, "Cijk_Ailk");
  CHECK(track_of(table, kernel).device == 2);
  CHECK(track_of(table, kernel).number == 0);
  const Descriptor& launch = descriptor_of(table, event_called(table, "hipLaunchKernel"));
  CHECK(launch.grid == std::array<std::int32_t, 3>{1, 2, 3});
  // The address of the stream is an id and left out.
  CHECK(table.names[launch.text] == R"({"kernel": "Cijk_Ailk"})");
  const Descriptor& copy = descriptor_of(table, event_called(table, "hipMemcpyWithStream"));
  CHECK(copy.bytes == 1024);  // written as a text
}

TEST_CASE("kineto: HIP is also known by the names of its calls alone") {
  const EventTable table =
      read_events(
          R"({"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":1,"dur":1})")
          .events;
  CHECK(table.info.is_hip);
}

TEST_CASE("kineto: an operator that names a stream stays on its host thread") {
  const EventTable table = read_fixture("compiled.json").events;
  const EventId triton = event_called(table, "triton_red_fused_0");
  CHECK(table.kind[index(triton)] == EventKind::cpu_op);
  CHECK(track_of(table, triton).kind == Track::Kind::host_thread);
  CHECK(descriptor_of(table, triton).grid[0] == 100);  // "grid(100,)"
}

TEST_CASE("kineto: kernels of one graph launch share its correlation") {
  const EventTable table = read_fixture("compiled.json").events;
  for (const char* name : {"cudaGraphLaunch", "a", "b"}) {
    CHECK(table.correlation[index(event_called(table, name))] == 200);
  }
  CHECK(table.names[descriptor_of(table, event_called(table, "a")).text] ==
        R"({"graph id": 3, "graph node id": 11})");
}

TEST_CASE("kineto: descriptors hold what describes the work, once per combination") {
  const EventTable table = read_fixture("training_2024.json").events;
  const Descriptor& addmm = descriptor_of(table, event_called(table, "aten::addmm"));
  CHECK(table.names[addmm.dims] == "[[32, 64], [64, 16], []]");
  CHECK(table.names[addmm.types] == R"(["float", "float", "Scalar"])");
  CHECK(table.names[addmm.concrete] == R"(["", "", "1"])");
  CHECK(index(addmm.text) == 0);
  const Descriptor& kernel = descriptor_of(table, event_called(table, "ampere_sgemm_64x32"));
  CHECK(kernel.grid == std::array<std::int32_t, 3>{64, 2, 1});
  CHECK(kernel.block == std::array<std::int32_t, 3>{128, 1, 1});
  CHECK(kernel.registers_per_thread == 32);
  CHECK(kernel.shared_memory_bytes == 1024);
  // The two kernels differ in ids and derived figures only.
  CHECK(&kernel == &descriptor_of(table, event_called(table, "triton_red_fused_0")));
  CHECK(&descriptor_of(table, event_called(table, "cudaLaunchKernel")) == table.descriptors.data());
}

TEST_CASE("kineto: a list that is never closed, of begins and ends") {
  const LoadedTrace trace = read_fixture("never_closed.json");
  const EventTable& table = trace.events;
  REQUIRE(table.size() == 2);
  CHECK(table.name_of(EventId{0}) == "SEND");  // the inner one ends first
  CHECK(table.start_ns[0] == 2 * us);
  CHECK(table.duration_ns[0] == 3 * us);
  CHECK(table.name_of(EventId{1}) == "PUSH");
  CHECK(table.duration_ns[1] == 20 * us);
  CHECK(table.kind[0] == EventKind::other);
  CHECK(trace.report.dropped() == 0);
  CHECK(has_warning(trace.report, "the list of events is not closed"));
}

TEST_CASE("kineto: a GPU that ROCm numbers otherwise is like those that are listed") {
  const auto trace_on = [](const std::string& devices) {
    return read_text("{\"roctracer_version\": 4, \"deviceProperties\": [" + devices +
                     R"(], "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 9,
  "tid": 0, "ts": 1, "dur": 1, "args": {"device": 9, "stream": 0}}]})")
        .events.info.devices;
  };
  const std::string first = R"({"id": 0, "name": "AMD Instinct MI300X", "numSms": 304})";
  const auto known = trace_on(first);
  REQUIRE(known.size() == 2);
  CHECK(known[1].id == 9);
  CHECK(known[1].name == "AMD Instinct MI300X");
  CHECK(known[1].multiprocessors == 304);
  // Of two kinds it may be either.
  CHECK(trace_on(first + R"(, {"id": 1, "name": "another", "numSms": 60})").size() == 2);
}

TEST_CASE("kineto: an empty list is a trace without events") {
  const LoadedTrace trace = read_text(R"({"traceEvents": []})");
  CHECK(trace.events.size() == 0);
  CHECK(trace.events.descriptors.size() == 1);
  CHECK(trace.report.warnings.empty());
  CHECK(trace.events.info.first_time_ns == 0);
}

TEST_CASE("kineto: ids beyond 32 bits get free ones, equal ones the same") {
  const auto event = [](const char* name, const char* correlation) {
    return std::string(R"({"ph":"X","cat":"kernel","name":")") + name +
           R"(","pid":0,"tid":7,"ts":1,"dur":1,"args":{"correlation":)" + correlation + "}},\n";
  };
  const EventTable table =
      read_events(event("a", "4294967296") + event("b", "4294967295") + event("c", "4294967296") +
                  event("d", "-7") + event("e", "5") + event("f", "-1") + event("g", "0"))
          .events;
  const auto& ids = table.correlation;
  CHECK(ids[0] != 0);
  CHECK(ids[0] == ids[2]);
  CHECK(ids[1] == 4294967295);
  CHECK(ids[3] != 0);
  CHECK(ids[3] != ids[0]);
  CHECK(ids[4] == 5);
  CHECK(ids[5] == 0);  // -1: none
  CHECK(ids[6] == 0);
  for (const std::size_t free : {std::size_t{0}, std::size_t{3}}) {
    CHECK(ids[free] != 4294967295);
    CHECK(ids[free] != 5);
  }
}

TEST_CASE("kineto: recorded waits find their calls whose ids lie beyond 32 bits") {
  const auto call = [](const char* name, const char* correlation) {
    return std::string(R"({"ph":"X","cat":"cuda_runtime","name":")") + name +
           R"(","pid":1,"tid":1,"ts":1,"dur":1,"args":{"correlation":)" + correlation + "}},\n";
  };
  const auto sync = [](const char* correlation, const char* recorded) {
    return std::string(
               R"({"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":20,)") +
           R"("ts":3,"dur":0,"args":{"stream":20,"wait_on_stream":7,"correlation":)" + correlation +
           R"(,"wait_on_cuda_event_record_corr_id":)" + recorded + "}},\n";
  };
  const EventTable table =
      read_events(call("cudaEventRecord", "1099511627776") + call("cudaStreamWaitEvent", "5") +
                  call("cudaStreamWaitEvent", "1099511627777") +
                  sync("1099511627777", "1099511627776") + sync("5", "9999999999999") +
                  sync("4294967294", "4294967293") + sync("4294967292", "-1"))
          .events;
  REQUIRE(table.syncs.size() == 4);
  CHECK(table.syncs[0].correlation == table.correlation[2]);
  CHECK(table.syncs[0].record_correlation == table.correlation[0]);
  CHECK(table.syncs[1].correlation == 5);
  CHECK(table.syncs[1].record_correlation == -1);  // no call has it
  // Ids that others were given: no call was recorded with them.
  for (const std::uint32_t given : {table.correlation[0], table.correlation[2]}) {
    for (const std::size_t i : {std::size_t{2}, std::size_t{3}}) {
      CHECK(table.syncs[i].correlation != given);
      CHECK(table.syncs[i].record_correlation != given);
    }
  }
}

TEST_CASE("kineto: names are unescaped, in keys too") {
  const LoadedTrace trace = read_events(
      R"({"ph":"X","cat":"cpu_op","n\u0061me":"f\u00fcr \"x\" \\ \ud83d\ude00\n","pid":1,"tid":1,"ts":1,"dur":1},
         {"ph":"X","cat":"cpu_op","name":"plain","pid":1,"tid":1,"ts":1,"dur":1})");
  CHECK(trace.events.name_of(EventId{0}) == "f\xC3\xBCr \"x\" \\ \xF0\x9F\x98\x80\n");
  CHECK(trace.events.name_of(EventId{1}) == "plain");
  CHECK(trace.report.damage.empty());
}

TEST_CASE("kineto: numbers may be texts and have exponents") {
  const EventTable table =
      read_events(
          R"({"ph":"X","cat":"kernel","name":"a","pid":"0","tid":"7","ts":"1e3","dur":2.5E-1,
          "args":{"device":"1","stream":"3","correlation":"12"}})")
          .events;
  CHECK(table.info.first_time_ns == 1'000'000);
  CHECK(table.duration_ns[0] == 250);
  CHECK(table.correlation[0] == 12);
  CHECK(track_of(table, EventId{0}).device == 1);
  CHECK(track_of(table, EventId{0}).number == 3);
}

TEST_CASE("kineto: threads named by texts are kept apart") {
  const EventTable table =
      read_events(
          R"({"ph":"X","cat":"cpu_op","name":"a","pid":"p","tid":"main","ts":1,"dur":1},
         {"ph":"X","cat":"cpu_op","name":"b","pid":"p","tid":"other","ts":1,"dur":1},
         {"ph":"X","cat":"cpu_op","name":"c","pid":"p","tid":"main","ts":3,"dur":1})")
          .events;
  CHECK(table.tracks.size() == 2);
  CHECK(table.track[0] == table.track[2]);
  CHECK(table.tracks[0].process == 0);
  CHECK(table.names[table.tracks[0].number_text] == "main");
}

}  // namespace foretrace::trace
