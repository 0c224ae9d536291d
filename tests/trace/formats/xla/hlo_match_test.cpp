#include "trace/formats/xla/hlo_match.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/trace/formats/read_helpers.h"
#include "trace/annotate/annotate.h"
#include "trace/assemble/build_graph.h"
#include "trace/table/linked_operator.h"

namespace foretrace::trace {
namespace {

std::string jax_bytes() {
  std::ifstream file(FORETRACE_SOURCE_DIR "/tests/fixtures/xplane/jax.xplane.pb", std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

LoadedTrace read_jax(const std::string& bytes) {
  const auto source = open_memory(bytes, "t.xplane.pb");
  auto loaded = reader_called("xplane").read(*source, {});
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  return std::move(loaded).value();
}

/// "kernel: operator dims phase" of every device event, in the order of the file.
std::vector<std::string> said_of(const EventTable& table) {
  std::vector<std::string> said;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto event = make_id<EventId>(i);
    if (!table.is_device_event(event)) continue;
    const Descriptor& own = table.descriptors[index(table.descriptor[i])];
    const std::string_view text = table.names[own.text];
    std::string one(table.name_of(event));
    one += ": " + captured_operator(text) + " " + std::string(table.names[own.dims]) + " " +
           std::string(captured_phase(text));
    said.push_back(one);
  }
  return said;
}

}  // namespace

TEST_CASE("hlo: kernels of a graph are told by names, and those of libraries by their place") {
  const LoadedTrace trace = read_jax(jax_bytes());
  CHECK(trace.report.dropped() == 0);
  const std::vector<std::string> expected = {
      "wrapped_convert: fusion:convert_element_type [[32, 64], [32, 64]] forward",
      "loop_multiply_fusion: fusion:mul [[8, 16, 32], [8, 16, 32], [8, 16, 32]] forward",
      "Memset 0:   ",
      // The call has the weight first: [32, 64] x [128, 32]. It is x w, with the weight second.
      "nvjet_sm90_tst_64x64: dot_general [[128, 32], [32, 64]] forward",
      "splitKreduce_kernel: dot_general [[128, 32], [32, 64]] forward",
      "input_reduce_fusion: fusion:reduce_sum [[64, 128], [64]] forward",
      // The kernel of wrapped_convert, which wrapped_convert.1 of the backward pass shares.
      "wrapped_convert: fusion:convert_element_type [[32, 64], [32, 64]] backward",
      "gemm_fusion_dot_2: dot_general [[64, 128], [128, 32]] backward",
      "memcpy128: fusion:slice [[64, 32], [32, 32]] backward",
      "loop_subtract_fusion: fusion:sub [[32, 64], [32, 32], [32, 64]] update",
      // On the other stream, by the name of its instruction; and of a module that is not there.
      "loop_subtract_fusion: fusion:sub [[32, 64], [32, 32], [32, 64]] update", "other_kernel:   "};
  CHECK(said_of(trace.events) == expected);
  const Descriptor& product =
      descriptor_of(trace.events, event_called(trace.events, "nvjet_sm90_tst_64x64"));
  CHECK(product.flops == 2.0 * 128 * 64 * 32);
  CHECK(trace.events.names[product.types] == R"(["c10::BFloat16", "c10::BFloat16"])");
}

TEST_CASE("hlo: phases and shapes reach the graph") {
  const LoadedTrace trace = read_jax(jax_bytes());
  const auto built = build_graph(trace.events);
  REQUIRE_MESSAGE(built.ok(), built.error().message);
  const TaskGraph& graph = built->graph;
  std::vector<Phase> phases;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.name(task) == "wrapped_convert") phases.push_back(graph.phase(task));
    if (graph.name(task) != "gemm_fusion_dot_2") continue;
    const Work& work = graph.work(task);
    CHECK(graph.names()[work.operator_name] == "dot_general");
    CHECK(graph.names()[work.shapes] == "[[64, 128], [128, 32]]");
    CHECK(work.flops == 2.0 * 64 * 128 * 32);
    CHECK(graph.phase(task) == Phase::backward);
  }
  CHECK(phases == std::vector{Phase::forward, Phase::backward});
}

TEST_CASE("hlo: a module without what it refers to gives what is left") {
  const std::string whole = jax_bytes();
  // Cut short anywhere, and with any byte changed: never fatal, and events stay events.
  std::uint32_t state = 11;
  const auto random = [&] { return (state = state * 1664525U + 1013904223U) >> 8U; };
  for (std::size_t keep = 1; keep < whole.size(); ++keep) {
    const LoadedTrace trace = read_jax(whole.substr(0, keep));
    CHECK(trace.report.kept <= trace.report.events);
  }
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = whole;
    for (int change = 0; change < 1 + round % 5; ++change) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const auto source = open_memory(bytes, "t.xplane.pb");
    const auto loaded = reader_called("xplane").read(*source, {});
    if (loaded.ok()) REQUIRE(loaded->report.kept <= loaded->report.events);
  }
}

TEST_CASE("hlo: damage inside of a module is counted") {
  std::string bytes = jax_bytes();
  // The number of a computation: its size is taken for 2^63.
  const std::size_t at = bytes.find("gemm_fusion_dot.2");
  REQUIRE(at != std::string::npos);
  bytes[at - 1] = '\x7F';  // the name's length goes beyond its instruction
  const LoadedTrace trace = read_jax(bytes);
  CHECK(trace.report.dropped() == 1);
  CHECK(event_called(trace.events, "gemm_fusion_dot_2") != none<EventId>);
}

TEST_CASE("hlo: scopes of JAX tell the passes") {
  using formats::HloPhase;
  using formats::phase_of_scope;
  CHECK(phase_of_scope("jit(step)/jvp(Model)/dense/dot_general") == HloPhase::forward);
  CHECK(phase_of_scope("jit(step)/transpose(jvp(Model))/dense/dot_general") == HloPhase::backward);
  CHECK(phase_of_scope("jit(step)/transpose") == HloPhase::unknown);
  CHECK(phase_of_scope("") == HloPhase::unknown);
  CHECK(formats::kernel_name_of("fusion.1") == "fusion_1");
  CHECK(formats::without_number("wrapped_convert_12") == "wrapped_convert");
  CHECK(formats::without_number("fusion_v2x") == "fusion_v2x");
}

TEST_CASE("hlo: convolutions of the real MI300X profile have shapes and arithmetic") {
  const std::string path = FORETRACE_SHARED_DIR "/traces/jax_xla/jax_conv_mi300x.xplane.pb.gz";
  if (!std::filesystem::exists(path)) {
    MESSAGE("SKIPPED: no " << path);
    return;
  }
  const auto loaded = read_trace(path, {});
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  const EventTable& table = loaded->events;
  std::size_t convolutions = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!table.is_device_event(make_id<EventId>(i))) continue;
    const Descriptor& own = table.descriptors[index(table.descriptor[i])];
    if (captured_operator(table.names[own.text]) != "conv_general_dilated") continue;
    ++convolutions;
    CHECK(table.names[own.dims] ==
          "[[1, 16, 32, 60, 104], [5120, 16, 1, 2, 2], [1, 5120, 34, 31, 53]]");
    // Every number of the output sums over 16 channels and 1 x 2 x 2 of the kernel.
    CHECK(own.flops == 2.0 * 5120 * 34 * 31 * 53 * 16 * 4);
  }
  CHECK(convolutions > 0);
}

}  // namespace foretrace::trace
