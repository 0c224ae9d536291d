#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "tests/trace/formats/read_helpers.h"
#include "trace/assemble/build_graph.h"

namespace foretrace::trace {
namespace {

std::string fixture_bytes(const std::string& name) {
  std::ifstream file(FORETRACE_SOURCE_DIR "/tests/fixtures/xplane/" + name, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

Result<LoadedTrace> try_bytes(const std::string& bytes) {
  const auto source = open_memory(bytes, "t.xplane.pb");
  return reader_called("xplane").read(*source, {});
}

LoadedTrace read_bytes(const std::string& bytes) {
  auto loaded = try_bytes(bytes);
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  return std::move(loaded).value();
}

LoadedTrace read_gpu() { return read_bytes(fixture_bytes("gpu.xplane.pb")); }
LoadedTrace read_tpu() { return read_bytes(fixture_bytes("tpu.xplane.pb")); }

EventKind kind_of(const EventTable& table, std::string_view name) {
  return table.kind[index(event_called(table, name))];
}

std::size_t count_kind(const EventTable& table, EventKind kind) {
  return static_cast<std::size_t>(std::count(table.kind.begin(), table.kind.end(), kind));
}

TEST_CASE("xplane: a file is recognized by its first plane") {
  const ReaderInfo& reader = reader_called("xplane");
  CHECK(reader.sniff(fixture_bytes("gpu.xplane.pb")) == Confidence::yes);
  CHECK(reader.sniff(fixture_bytes("tpu.xplane.pb").substr(0, 40)) == Confidence::yes);
  CHECK(reader.sniff("\n/host:CPU is a text that starts with an empty line") == Confidence::no);
  CHECK(reader.sniff("") == Confidence::no);
  CHECK(reader.sniff("{\"traceEvents\": []}") == Confidence::no);
}

TEST_CASE("xplane: streams are device work, lines derived from them are annotations") {
  const LoadedTrace trace = read_gpu();
  const EventTable& table = trace.events;
  CHECK(trace.report.dropped() == 0);
  CHECK(kind_of(table, "Memcpy HtoD") == EventKind::copy);
  CHECK(kind_of(table, "fusion_1") == EventKind::kernel);
  CHECK(kind_of(table, "jit_step(15)") == EventKind::gpu_annotation);
  CHECK(kind_of(table, "fusion.1") == EventKind::gpu_annotation);
  CHECK(count_kind(table, EventKind::kernel) == 1);
  const Track& stream = track_of(table, event_called(table, "fusion_1"));
  CHECK(stream.kind == Track::Kind::stream);
  CHECK(stream.number == 7);
  CHECK(stream.device == 0);
}

TEST_CASE("xplane: times are picoseconds from the start of a line") {
  const LoadedTrace trace = read_gpu();
  const EventTable& table = trace.events;
  const auto copy = index(event_called(table, "Memcpy HtoD"));
  // Lines start at 1000 ns, which is the first event's time. 0.5 ns + 1500.5 ns end at 1501 ns.
  CHECK(table.start_ns[copy] == 0);
  CHECK(table.duration_ns[copy] == 1501);
  const auto kernel = index(event_called(table, "fusion_1"));
  CHECK(table.start_ns[kernel] == 2001);
  CHECK(table.duration_ns[kernel] == 3000);
  CHECK(table.info.base_time_ns == 1771595639214724894);
}

TEST_CASE("xplane: details of kernels and copies are taken apart") {
  const LoadedTrace trace = read_gpu();
  const EventTable& table = trace.events;
  const Descriptor& kernel = descriptor_of(table, event_called(table, "fusion_1"));
  CHECK(kernel.grid == std::array<std::int32_t, 3>{16, 2, 1});
  CHECK(kernel.block == std::array<std::int32_t, 3>{128, 1, 1});
  CHECK(kernel.registers_per_thread == 40);
  CHECK(kernel.shared_memory_bytes == 96);
  CHECK(table.names[kernel.text] == R"({"hlo_op": "fusion.1", "hlo_module": "jit_step"})");
  CHECK(descriptor_of(table, event_called(table, "Memcpy HtoD")).bytes == 4096);
  REQUIRE(table.info.devices.size() == 1);
  CHECK(table.info.devices[0].multiprocessors == 108);
  CHECK(table.info.devices[0].compute_major == 8);
  CHECK_FALSE(table.info.is_hip);
}

TEST_CASE("xplane: the device's name is read as JAX 0.11 writes it") {
  // plane { name = "/device:GPU:0", stats { id 1, text "NVIDIA H200" }, stat 1: gpu_device_name }
  const auto with_length = [](char key, const std::string& text) {
    return std::string(1, key) + static_cast<char>(text.size()) + text;
  };
  const std::string one("\x08\x01", 2);
  const std::string names =
      with_length('*', one + with_length('\x12', one + with_length('\x12', "gpu_device_name")));
  const std::string stat = with_length('2', one + with_length('*', "NVIDIA H200"));
  const LoadedTrace trace =
      read_bytes(with_length('\n', with_length('\x12', "/device:GPU:0") + names + stat));
  REQUIRE(trace.events.info.devices.size() == 1);
  CHECK(trace.events.info.devices[0].name == "NVIDIA H200");
}

TEST_CASE("xplane: the host has steps, frames, operators and calls that launch") {
  const LoadedTrace trace = read_gpu();
  const EventTable& table = trace.events;
  CHECK(kind_of(table, "ProfilerStep#3") == EventKind::user_annotation);
  CHECK(kind_of(table, "$train.py:10 step") == EventKind::python_function);
  CHECK(kind_of(table, "PjRtExecutable::Execute") == EventKind::cpu_op);
  const auto launch = event_called(table, "cuLaunchKernel");
  CHECK(kind_of(table, "cuLaunchKernel") == EventKind::runtime);
  CHECK(table.correlation[index(launch)] ==
        table.correlation[index(event_called(table, "fusion_1"))]);
  CHECK(table.names[track_of(table, launch).name] == "python main");
  // The call itself does not say what it launches; its kernel does.
  std::size_t operators = 0;
  for (std::size_t row = 0; row < table.size(); ++row) {
    operators += table.kind[row] == EventKind::cpu_op &&
                         table.name_of(make_id<EventId>(row)) == "%fusion.1" &&
                         table.start_ns[row] == table.start_ns[index(launch)]
                     ? 1
                     : 0;
  }
  CHECK(operators == 1);
  CHECK_FALSE(has_warning(trace.report, "no launch calls"));
}

TEST_CASE("xplane: of a TPU the innermost operations are the work") {
  const LoadedTrace trace = read_tpu();
  const EventTable& table = trace.events;
  CHECK(kind_of(table, "while.1") == EventKind::gpu_annotation);
  CHECK(kind_of(table, "1") == EventKind::gpu_annotation);
  CHECK(kind_of(table, "fusion.1") == EventKind::kernel);
  CHECK(kind_of(table, "copy-start.1") == EventKind::copy);
  CHECK(count_kind(table, EventKind::kernel) == 3);
  CHECK(descriptor_of(table, event_called(table, "fusion.1")).flops == doctest::Approx(1e9));
  CHECK(descriptor_of(table, event_called(table, "copy-start.1")).bytes == 8192);
  CHECK(table.info.devices[0].name == "TPU v4");
  CHECK(has_warning(trace.report, "no launch calls are recorded"));
  CHECK(has_warning(trace.report, "a TPU has no streams"));
  const auto built = build_graph(table);
  REQUIRE_MESSAGE(built.ok(), built.error().message);
  CHECK(built->honesty.device_busy_ns == 6000);  // 1000-5000 of the copy fills 4500-5000
}

TEST_CASE("xplane: bytes that were stored as text are named as that") {
  std::string bytes = "\n\xEF\xBF\xBD\x06\x08\x02\x12\x0D/device:TPU:0";
  for (int i = 0; i < 10; ++i) {
    bytes += "\x1A\xEF\xBF\xBD";
  }
  CHECK(reader_called("xplane").sniff(bytes) == Confidence::yes);
  const auto loaded = try_bytes(bytes);
  REQUIRE_FALSE(loaded.ok());
  CHECK(loaded.error().message ==
        "t.xplane.pb: looks like an XPlane protobuf that was stored as text, which replaced its "
        "bytes above 127 by U+FFFD; fetch it again as binary");
}

TEST_CASE("xplane: a cut file gives what is whole, and says that it is cut") {
  const std::string whole = fixture_bytes("gpu.xplane.pb");
  for (std::size_t keep = 1; keep < whole.size(); ++keep) {
    const LoadedTrace trace = read_bytes(whole.substr(0, keep));
    CHECK(trace.report.kept <= trace.report.events);
  }
  // Cut inside the second plane, the first is whole.
  const std::size_t host = whole.find("/host:CPU");
  const LoadedTrace trace = read_bytes(whole.substr(0, host + 40));
  CHECK(trace.report.dropped() > 0);
  CHECK(event_called(trace.events, "fusion_1") != none<EventId>);
  CHECK(trace.report.ends_early);
  REQUIRE_FALSE(trace.report.warnings.empty());
  CHECK(trace.report.warnings.front() == "the file ends inside a plane, at byte " +
                                             std::to_string(host + 40) +
                                             ": it and what follows are missing");
  CHECK_FALSE(read_bytes(whole).report.ends_early);
  // Damage within it is none of its end.
  std::string broken = whole;
  broken.replace(broken.find("fusion_1") - 2, 2, "\xFF\xFF");
  CHECK_FALSE(read_bytes(broken).report.ends_early);
}

TEST_CASE("xplane: damaged bytes never crash") {
  std::uint32_t state = 7;
  const auto random = [&] { return (state = state * 1664525U + 1013904223U) >> 8U; };
  for (const char* name : {"gpu.xplane.pb", "tpu.xplane.pb", "jax.xplane.pb"}) {
    const std::string whole = fixture_bytes(name);
    for (int round = 0; round < 3000; ++round) {
      std::string bytes = whole;
      for (int change = 0; change < 1 + round % 6; ++change) {
        bytes[random() % bytes.size()] = static_cast<char>(random());
      }
      const auto loaded = try_bytes(bytes);
      if (loaded.ok()) {
        REQUIRE(loaded->report.kept <= loaded->report.events);
        for (std::size_t row = 0; row < loaded->events.size(); ++row) {
          REQUIRE(loaded->events.duration_ns[row] >= 0);
          REQUIRE(loaded->events.start_ns[row] >= 0);
        }
      }
    }
  }
}

TEST_CASE("xplane: sizes and times of 2^63 are counted, not believed") {
  // plane { name = "/device:GPU:0", line { name = "Stream #1(x)", event { offset and duration } } }
  const std::string huge = "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F";  // 2^63 - 1
  const auto with_length = [](char key, const std::string& text) {
    return std::string(1, key) + static_cast<char>(text.size()) + text;
  };
  const std::string event = "\x08\x01\x10" + huge + "\x18" + huge;
  const std::string line = with_length('\x12', "Stream #1(x)") + with_length('\x22', event);
  const std::string names = with_length('\x22', std::string("\x08\x01\x12\x03\x12\x01k", 7));
  const LoadedTrace trace = read_bytes(
      with_length('\n', with_length('\x12', "/device:GPU:0") + with_length('\x1A', line) + names));
  // 2^63 ps are 106 days twice over: long, but a time.
  CHECK(trace.events.size() == 1);
  const LoadedTrace sized = read_bytes("\n" + huge + "\x12\x0D/device:GPU:0");
  CHECK(sized.events.size() == 0);
  CHECK(sized.report.dropped() == 1);
  const LoadedTrace late =
      read_bytes(with_length('\n', with_length('\x12', "/device:GPU:0") +
                                       with_length('\x1A', line + "\x18" + huge) + names));
  CHECK(late.events.size() == 0);
  CHECK(damage_count(late.report, "time out of range") == 1);
}

TEST_CASE("xplane: the real profile of eight MI300X is read and replayed") {
  const std::string path = FORETRACE_SHARED_DIR "/traces/jax_xla/jax_conv_mi300x.xplane.pb.gz";
  if (!std::filesystem::exists(path)) {
    MESSAGE("SKIPPED: no " << path);
    return;
  }
  const auto loaded = read_trace(path, {});
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  const EventTable& table = loaded->events;
  // Stream lines: 9 + 9 + 34 + 8 on the first GPU, 25 on each of seven others.
  CHECK(count_kind(table, EventKind::kernel) + count_kind(table, EventKind::copy) +
            count_kind(table, EventKind::set) ==
        235);
  CHECK(table.info.devices.size() == 8);
  CHECK(table.info.is_hip);
  CHECK(loaded->report.dropped() == 0);
  const auto built = build_graph(table);
  REQUIRE_MESSAGE(built.ok(), built.error().message);
  CHECK(built->honesty.pre_window_operations == 0);  // every one has its launch
}

TEST_CASE("xplane: the TPU profile that was stored as text is refused for that") {
  const std::string path = FORETRACE_SHARED_DIR "/traces/jax_xla/tpu_inference_2.xplane.pb.gz";
  if (!std::filesystem::exists(path)) {
    MESSAGE("SKIPPED: no " << path);
    return;
  }
  const auto loaded = read_trace(path, {});
  REQUIRE_FALSE(loaded.ok());
  CHECK(loaded.error().message.find("stored as text") != std::string::npos);
}

}  // namespace
}  // namespace foretrace::trace
