#include <vector>

#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& mixed_precision;
}

using foretrace::Phase;
using foretrace::TaskGraph;
using foretrace::TaskId;
using foretrace::Tensor;
using foretrace::TensorCategory;
using foretrace::test::after;
using foretrace::test::Given;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::mixed_precision;

namespace {

constexpr std::int64_t mib = 1 << 20;

// Forward: linear layer, ReLU, pooling with indices, softmax; backward of the layer.
struct Recording {
  ToyRun run;

  TaskId add(std::string_view name, std::string_view op, std::string_view shapes = {},
             Phase phase = Phase::forward) {
    const TaskId kernel = run.kernel({.name = name,
                                      .duration_ns = 100000,
                                      .operator_name = op,
                                      .shapes = shapes,
                                      .phase = phase});
    return foretrace::make_id<TaskId>(foretrace::index(kernel) - 1);
  }
  void tensor(TaskId call, std::string_view op, std::int64_t bytes,
              TensorCategory category = TensorCategory::activation) {
    run.builder().add_tensor({.bytes = bytes,
                              .category = category,
                              .phase = Phase::forward,
                              .operator_name = run.builder().add_name(op),
                              .allocated_in = call});
  }
  TaskGraph build() {
    run.builder().add_tensor({.bytes = 8 * mib, .category = TensorCategory::weight});
    run.builder().add_tensor({.bytes = 8 * mib, .category = TensorCategory::gradient});
    run.builder().add_tensor({.bytes = 16 * mib, .category = TensorCategory::optimizer_state});
    const TaskId linear = add("ampere_sgemm_128x64_tn", "aten::mm", "[[1024, 1024], [1024, 2048]]");
    tensor(linear, "aten::mm", 8 * mib);
    const TaskId relu = add("vectorized_elementwise_kernel<4, relu<float>>", "aten::relu");
    tensor(relu, "aten::relu", 8 * mib);
    const TaskId pool = add("max_pool_forward_nchw<float>", "aten::max_pool2d_with_indices");
    tensor(pool, "aten::max_pool2d_with_indices", 2 * mib);
    tensor(pool, "aten::max_pool2d_with_indices", 4 * mib);
    const TaskId softmax = add("softmax_warp_forward<float, float, float>", "aten::_softmax");
    tensor(softmax, "aten::_softmax", 2 * mib);
    tensor(linear, "aten::mm", 32 * mib, TensorCategory::workspace);
    last =
        add("ampere_sgemm_128x64_nt", "aten::mm", "[[1024, 1024], [1024, 2048]]", Phase::backward);
    return run.build();
  }
  TaskId last{};
};

std::vector<std::int64_t> bytes_of(const TaskGraph& graph) {
  std::vector<std::int64_t> bytes;
  for (const Tensor& tensor : graph.context().tensors) bytes.push_back(tensor.bytes / mib);
  return bytes;
}

std::vector<std::int64_t> bytes_after(const Given& given, const char* accelerator) {
  const auto product = toy_accelerator(accelerator);
  Recording recording;
  return bytes_of(after(recording.build(), mixed_precision, given, &product));
}

using Sizes = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("precision_memory: autocast halves results of products, followers by their share") {
  // Order: weight, gradient, states, product, ReLU, pooled, indices, softmax, workspace; then the
  // 16-bit copy of 2^21 weights.
  CHECK(bytes_after({{"dtype", "bf16"}, {"followers", "0.5"}}, "a100_sxm_40gb") ==
        Sizes{8, 8, 16, 4, 6, 1, 4, 2, 32, 4});
  CHECK(bytes_after({{"dtype", "bf16"}, {"followers", "1"}, {"casts", "none"}}, "a100_sxm_40gb") ==
        Sizes{8, 8, 16, 4, 4, 1, 4, 2, 32});
}

TEST_CASE("precision_memory: a full cast halves parameters and gradients, states with update") {
  CHECK(bytes_after({{"dtype", "bf16"}, {"mode", "full"}}, "a100_sxm_40gb") ==
        Sizes{4, 4, 16, 4, 4, 1, 4, 1, 32});
  CHECK(bytes_after({{"dtype", "bf16"}, {"mode", "full"}, {"update", "true"}}, "a100_sxm_40gb") ==
        Sizes{4, 4, 8, 4, 4, 1, 4, 1, 32});
}

TEST_CASE("precision_memory: fp8 keeps 8-bit copies of weights, TF32 and Daydream change nothing") {
  CHECK(bytes_after({{"dtype", "fp8"}, {"followers", "1"}, {"fp8_copies", "1"}}, "h100_sxm") ==
        Sizes{8, 8, 16, 4, 4, 1, 4, 2, 32, 2});
  const Sizes recorded = {8, 8, 16, 8, 8, 2, 4, 2, 32};
  CHECK(bytes_after({{"dtype", "tf32"}}, "a100_sxm_40gb") == recorded);
  CHECK(bytes_after({{"model", "daydream"}}, "a100_sxm_40gb") == recorded);
}

TEST_CASE("precision_memory: copies of weights go when the backward pass has been launched") {
  const auto a100 = toy_accelerator();
  Recording recording;
  const TaskGraph graph = recording.build();
  const auto change = foretrace::test::apply_to(graph, mixed_precision, {{"dtype", "bf16"}}, &a100);
  REQUIRE(change.ok());
  REQUIRE(change->new_tensors.size() == 1);
  CHECK(change->new_tensors[0].freed_in == recording.last);
  CHECK(change->new_tensors[0].category == TensorCategory::weight);
}
