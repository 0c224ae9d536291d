#include "trace/annotate/tensors/parameters.h"

#include <filesystem>

#include <doctest/doctest.h>

#include "tests/trace/annotate/trace_sketch.h"
#include "trace/formats/reader.h"

namespace foretrace::trace {
namespace {

DescriptorId shaped(EventTable& table, std::string_view dims, std::string_view types) {
  Descriptor descriptor;
  descriptor.dims = table.names.intern(dims);
  descriptor.types = table.names.intern(types);
  table.descriptors.push_back(descriptor);
  return make_id<DescriptorId>(table.descriptors.size() - 1);
}

TEST_CASE("parameters: weights are counted by operator, what an operator calls is not") {
  TraceSketch sketch;
  const TrackId main = sketch.thread(1);
  const EventId conv = sketch.op(main, "aten::conv2d", {0, 100});
  const EventId inner = sketch.op(main, "aten::convolution", {10, 90});
  const EventId norm = sketch.op(main, "aten::batch_norm", {100, 200});
  const EventId relu = sketch.op(main, "aten::relu", {200, 300});
  EventTable table = sketch.table();
  const auto dims = "[[8, 3, 32, 32], [64, 3, 7, 7], [64]]";
  const auto types = R"(["float", "float", "float"])";
  table.descriptor[index(conv)] = shaped(table, dims, types);
  table.descriptor[index(inner)] = shaped(table, dims, types);
  table.descriptor[index(norm)] =
      shaped(table, "[[8, 64, 16, 16], [64], [64], [64], [64], []]",
             R"(["c10::Half", "c10::Half", "c10::Half", "float", "float", "Scalar"])");
  table.descriptor[index(relu)] = shaped(table, "[[8, 64, 16, 16]]", R"(["float"])");
  const ParameterEstimate found = estimate_parameters(table, annotate(table));
  CHECK(found.parameters == 64 * 3 * 7 * 7 + 64 + 64 + 64);
  CHECK(found.parameter_bytes == 4 * (64 * 3 * 7 * 7 + 64) + 2 * 128);
  CHECK(found.buffer_bytes == 4 * 128);
  CHECK(!found.trains);
}

TEST_CASE("parameters: absurd shapes count for nothing") {
  TraceSketch sketch;
  const EventId op = sketch.op(sketch.thread(1), "aten::linear", {0, 100});
  EventTable table = sketch.table();
  table.descriptor[index(op)] =
      shaped(table, "[[1], [9223372036854775807, 9223372036854775807], [[[]", "[");
  CHECK(estimate_parameters(table, annotate(table)).parameters == 0);
}

TEST_CASE("parameters: one step of ResNet-50 holds its 25,557,032 parameters") {
  const std::string path = FORETRACE_SHARED_DIR "/traces/kineto_resnet50/workers0_v100.json.gz";
  if (!std::filesystem::exists(path)) {
    MESSAGE("skipped, not here: ", path);
    return;
  }
  const auto loaded = read_trace(path, {});
  REQUIRE(loaded.ok());
  const ParameterEstimate found = estimate_parameters(loaded->events, annotate(loaded->events));
  CHECK(found.parameters == 25'557'032);
  CHECK(found.trains);
}

}  // namespace
}  // namespace foretrace::trace
