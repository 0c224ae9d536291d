#include "trace/annotate/tensors/result_shapes.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/trace/annotate/trace_sketch.h"

namespace foretrace::trace {
namespace {

/// One operator with its recorded arguments.
struct Recorded {
  EventTable table;
  EventId event{};

  Recorded(std::string_view dims, std::string_view types, std::string_view values = "") {
    TraceSketch sketch;
    event = sketch.op(sketch.thread(1), "op", {0, 1});
    table = sketch.table();
    Descriptor descriptor;
    descriptor.dims = table.names.intern(dims);
    descriptor.types = table.names.intern(types);
    descriptor.concrete = table.names.intern(values);
    table.descriptors.push_back(descriptor);
    table.descriptor[index(event)] = make_id<DescriptorId>(table.descriptors.size() - 1);
  }
};

std::string text_of(const TensorShape& shape) {
  std::string text;
  for (const std::int64_t size : shape.sizes()) {
    text += (text.empty() ? "" : "x") + std::to_string(size);
  }
  return text + ":" + std::to_string(bytes_of(shape.type));
}

/// "64x128:4 64x128:8": sizes and bytes per element of what the operator makes; "?" if not known.
std::string results_of(std::string_view name, const Recorded& recorded,
                       const OperatorCall& more = {}) {
  ArgumentTable arguments(recorded.table);
  OperatorCall call = more;
  call.name = name;
  call.arguments = &arguments.of(recorded.event);
  if (name.find("conv") != std::string_view::npos && call.convolution == nullptr) {
    call.convolution = call.arguments;
  }
  const auto results = result_shapes(call);
  if (!results) return "?";
  std::string text;
  for (const TensorShape& shape : *results) text += (text.empty() ? "" : " ") + text_of(shape);
  return text;
}

TEST_CASE("result shapes: products, also into a tensor that is given") {
  CHECK(results_of("aten::mm", {"[[8, 3], [3, 5]]", R"(["float", "float"])"}) == "8x5:4");
  CHECK(results_of("aten::bmm", {"[[2, 8, 3], [2, 3, 5]]", R"(["c10::Half", "c10::Half"])"}) ==
        "2x8x5:2");
  const auto* const types = R"(["float", "float", "float", "Scalar", "Scalar", "float"])";
  CHECK(results_of("aten::addmm", {"[[5], [8, 3], [3, 5], [], []]", types}) == "8x5:4");
  CHECK(results_of("aten::addmm", {"[[5], [8, 3], [3, 5], [], [], [8, 5]]", types}).empty());
}

TEST_CASE("result shapes: convolutions by stride, padding and dilation") {
  const auto* const types = R"(["float", "float", "float", "", "", "", "", "", ""])";
  const auto* const dims = "[[32, 3, 224, 224], [64, 3, 7, 7], [64], [], [], [], [], [], []]";
  const std::string values =
      R"(["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1"])";
  CHECK(results_of("aten::cudnn_convolution", {dims, types, values}) == "32x64x112x112:4");
  const std::string up = R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[1, 1]", "1"])";
  CHECK(results_of("aten::cudnn_convolution",
                   {"[[4, 8, 16, 16], [8, 5, 3, 3], [], [], [], [], [], [], []]", types, up}) ==
        "4x5x32x32:4");
  // Without values the gradient that the node of the convolution gets has the size.
  const TensorShape gradient =
      make_shape(std::vector<std::int64_t>{32, 64, 9, 9}, ElementType::f32);
  CHECK(results_of("aten::cudnn_convolution", {dims, types}) == "?");
  CHECK(results_of("aten::cudnn_convolution", {dims, types}, {.gradient = &gradient}) ==
        "32x64x9x9:4");
}

TEST_CASE("result shapes: poolings keep indices, and may round up") {
  const auto* const types = R"(["float", "", "", "", "", ""])";
  const auto* const dims = "[[2, 3, 7, 7], [], [], [], [], []]";
  CHECK(results_of("aten::max_pool2d_with_indices",
                   {dims, types, R"(["", "[2, 2]", "[2, 2]", "[0, 0]", "[1, 1]", "False"])"}) ==
        "2x3x3x3:4 2x3x3x3:8");
  CHECK(results_of("aten::max_pool2d_with_indices",
                   {dims, types, R"(["", "[2, 2]", "[2, 2]", "[0, 0]", "[1, 1]", "True"])"}) ==
        "2x3x4x4:4 2x3x4x4:8");
  CHECK(results_of("aten::max_pool2d_with_indices",
                   {dims, types, R"(["", "[3]", "[]", "[1]", "[1]", "False"])"}) ==
        "2x3x3x3:4 2x3x3x3:8");
}

TEST_CASE("result shapes: statistics, masks and indices are among the results") {
  const auto* const norm =
      R"(["float", "float", "float", "float", "float", "Scalar", "Scalar", "Scalar"])";
  const auto* const dims = "[[8, 16, 4, 4], [16], [16], [16], [16], [], [], []]";
  CHECK(results_of("aten::native_batch_norm", {dims, norm}) == "8x16x4x4:4 16:4 16:4");
  CHECK(results_of("aten::native_batch_norm",
                   {dims, norm, R"(["", "", "", "", "", "False", "0.1", "1e-5"])"}) ==
        "8x16x4x4:4");
  CHECK(results_of("aten::native_layer_norm",
                   {"[[2, 10, 64], [], [64], [64], []]",
                    R"(["c10::Half", "ScalarList", "c10::Half", "c10::Half", "Scalar"])",
                    R"(["", "[64]", "", "", "1e-5"])"}) == "2x10x64:2 20:4 20:4");
  CHECK(results_of("aten::native_dropout", {"[[3, 4], [], []]", R"(["float", "", ""])"}) ==
        "3x4:4 3x4:1");
  CHECK(results_of("aten::topk", {"[[3, 40], [], [], [], []]", R"(["float", "", "", "", ""])",
                                  R"(["", "5", "-1", "True", "True"])"}) == "3x5:4 3x5:8");
}

TEST_CASE("result shapes: elementwise operators broadcast; a number does not decide the type") {
  CHECK(results_of("aten::add", {"[[8, 1, 4], [3, 1], []]", R"(["c10::Half", "float", ""])"}) ==
        "8x3x4:4");
  CHECK(results_of("aten::mul", {"[[8, 4], []]", R"(["c10::Half", "double"])"}) == "8x4:2");
  CHECK(results_of("aten::mul", {"[[8, 4], []]", R"(["long int", "float"])"}) == "8x4:4");
  CHECK(results_of("aten::eq", {"[[8, 4], []]", R"(["float", "Scalar"])"}) == "8x4:1");
  CHECK(results_of("aten::add", {"[[8, 3], [4, 4]]", R"(["float", "float"])"}) == "?");
  CHECK(results_of("aten::where", {"[[8, 4], [8, 4], []]", R"(["bool", "c10::Half", "float"])"}) ==
        "8x4:2");
}

TEST_CASE("result shapes: reductions, joins, look-ups") {
  const auto* const types = R"(["float", "ScalarList", "Scalar", ""])";
  CHECK(results_of("aten::sum",
                   {"[[8, 3, 4], [], [], []]", types, R"(["", "[0, -1]", "False", ""])"}) == "3:4");
  CHECK(results_of("aten::mean",
                   {"[[8, 3, 4], [], [], []]", types, R"(["", "[2]", "True", ""])"}) == "8x3x1:4");
  CHECK(results_of("aten::sum", {"[[8, 3, 4], []]", R"(["float", ""])", R"(["", ""])"}) == ":4");
  CHECK(results_of("aten::sum", {"[[8, 3, 4], [], [], []]", types}) == "?");
  CHECK(results_of("aten::cat", {"[[[2, 3], [2, 5]], []]", R"(["TensorList", "Scalar"])",
                                 R"(["", "1"])"}) == "2x8:0");
  CHECK(results_of("aten::embedding", {"[[1000, 64], [8, 20]]", R"(["float", "long int"])"}) ==
        "8x20x64:4");
  CHECK(results_of("aten::nonzero", {"[[8, 20]]", R"(["bool"])"}) == "?");
}

TEST_CASE("result shapes: gradients are as large as what they are gradients of") {
  CHECK(results_of("aten::convolution_backward",
                   {"[[2, 8, 5, 5], [2, 3, 7, 7], [8, 3, 3, 3], [], [], [], [], [], [], [], []]",
                    R"(["float", "float", "float"])",
                    R"(["", "", "", "[8]", "", "", "", "", "", "", "[False, True, True]"])"}) ==
        "8x3x3x3:4 8:4");
  CHECK(results_of("aten::threshold_backward",
                   {"[[4, 4], [4, 4], []]", R"(["float", "float", "Scalar"])"}) == "4x4:4");
  CHECK(results_of("aten::nll_loss_backward",
                   {"[[], [4, 10], [4], [], [], [], []]",
                    R"(["float", "float", "long int", "", "Scalar", "Scalar", "float"])"}) ==
        "4x10:4");
  const Recorded recorded("[[2, 3, 7, 7], [8, 3, 3, 3]]", R"(["float", "float"])");
  ArgumentTable arguments(recorded.table);
  const OperatorCall call{.forward = &arguments.of(recorded.event)};
  CHECK(results_of("aten::cudnn_convolution_backward_weight",
                   {"[[], [2, 8, 5, 5]]", R"(["", "float"])"}, call) == "8x3x3x3:4");
  CHECK(results_of("MyFunctionBackward", {"[[2, 8, 5, 5]]", R"(["float"])"}, call) == "2x3x7x7:4");
}

TEST_CASE("result shapes: what works in place makes nothing; strangers are not guessed") {
  CHECK(results_of("aten::add_", {"[[4, 4], [4, 4]]", R"(["float", "float"])"}).empty());
  CHECK(results_of("aten::_fused_adam_", {"[[[4, 4]], []]", R"(["TensorList", ""])"}).empty());
  CHECK(results_of("fbgemm::something", {"[[4, 4]]", R"(["float"])"}) == "?");
  CHECK(works_in_place("aten::relu_"));
  CHECK(!works_in_place("aten::relu"));
}

TEST_CASE("result shapes: absurd arguments give no absurd sizes") {
  const auto* const huge = "[[9223372036854775807, 9223372036854775807], [9223372036854775807, 2]]";
  for (const auto* const name : {"aten::mm", "aten::cat", "aten::add", "aten::embedding",
                                 "aten::cudnn_convolution", "aten::max_pool2d_with_indices"}) {
    const Recorded recorded(huge, R"(["float", "float"])",
                            R"(["", "9223372036854775807", "[-5]", "[1, 1]", "x", "[[", "True"])");
    ArgumentTable arguments(recorded.table);
    const OperatorCall call{.name = name,
                            .arguments = &arguments.of(recorded.event),
                            .convolution = &arguments.of(recorded.event)};
    if (const auto results = result_shapes(call)) {
      for (const TensorShape& shape : *results) CHECK(shape.bytes() >= 0);
    }
  }
}

TEST_CASE("operator arguments: lists of tensors, numbers in quotes, damage") {
  CHECK(list_elements(R"(["[1, 2]", "", "a,b"])") ==
        std::vector<std::string_view>{"[1, 2]", "", "a,b"});
  CHECK(list_elements("[]").empty());
  CHECK(list_elements("[1, [2, 3]]") == std::vector<std::string_view>{"1", "[2, 3]"});
  CHECK(list_elements("no list").empty());
  // 2020 recorded sizes without types.
  const Recorded untyped("[[4, 5], []]", "");
  ArgumentTable arguments(untyped.table);
  REQUIRE(arguments.of(untyped.event).tensor(0) != nullptr);
  CHECK(arguments.of(untyped.event).tensor(0)->bytes() == 80);
}

}  // namespace
}  // namespace foretrace::trace
