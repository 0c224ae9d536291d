#include "trace/annotate/tensors/parameters.h"

#include <array>
#include <filesystem>
#include <vector>

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
  const char* const dims = "[[8, 3, 32, 32], [64, 3, 7, 7], [64]]";
  const char* const types = R"(["float", "float", "float"])";
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

TEST_CASE("parameters: gradients that a backward pass hands over count what no operator names") {
  // A linear layer and a recurrent one; the step runs two passes before its update.
  TraceSketch sketch;
  const TrackId main = sketch.thread(1);
  const TrackId autograd = sketch.thread(2);
  std::vector<EventId> linear;
  std::vector<std::array<EventId, 2>> handed;
  for (const std::int64_t at : {0, 1000}) {
    linear.push_back(sketch.op(main, "aten::linear", {at, at + 100}));
    handed.push_back(
        {sketch.op(autograd, "torch::autograd::AccumulateGrad", {at + 200, at + 210}),
         sketch.op(autograd, "torch::autograd::AccumulateGrad", {at + 220, at + 230})});
  }
  EventTable table = sketch.table();
  const char* const half = R"(["c10::BFloat16", "c10::BFloat16"])";
  for (const EventId event : linear) {
    table.descriptor[index(event)] = shaped(table, "[[8, 16], [32, 16]]", half);
  }
  for (const auto& [weight, recurrent] : handed) {
    table.descriptor[index(weight)] = shaped(table, "[[32, 16]]", half);
    table.descriptor[index(recurrent)] = shaped(table, "[[128, 32]]", half);
  }
  const ParameterEstimate found = estimate_parameters(table, annotate(table));
  CHECK(found.parameters == 32 * 16 + 128 * 32);
  CHECK(found.parameter_bytes == 2 * (32 * 16 + 128 * 32));
  // Frozen layers have no gradients: what operators read is more.
  for (const auto& [weight, recurrent] : handed) {
    table.descriptor[index(weight)] = shaped(table, "[[32]]", half);
    table.descriptor[index(recurrent)] = shaped(table, "[[]]", half);
  }
  CHECK(estimate_parameters(table, annotate(table)).parameters == 32 * 16);
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
