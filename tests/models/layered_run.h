// Training steps of a model of equal layers: a product and a GELU each, on a stream that a second
// one waits for; gradients backwards, and an update of several pointwise kernels per tensor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/models/toy_run.h"

namespace foretrace::test {

struct LayeredRun {
  int layers = 4;
  int steps = 2;
  std::int64_t width = 1024;
  std::int64_t product_ns = 200'000;  ///< forward
  bool tensors = true;                ///< weights, gradients and states in memory
};

/// A layer has width x width numbers and a bias.
[[nodiscard]] inline double numbers_of(const LayeredRun& run) {
  const auto width = static_cast<double>(run.width);
  return run.layers * (width * width + width);
}

[[nodiscard]] inline TaskGraph layered_run(const LayeredRun& like) {
  ToyRun run;
  const LaneId stream = run.stream();
  const LaneId side = run.add_stream(9);
  const auto beside = [&](TaskId source, Phase phase) {
    run.use_stream(side);
    run.wait_for(run.kernel({.name = "bystander", .duration_ns = 5'000, .phase = phase}), source);
    run.use_stream(stream);
  };
  const std::string n = std::to_string(like.width);
  const std::string square = "[" + n + ", " + n + "]";
  const std::string product = "[[" + n + "], [4096, " + n + "], " + square + ", [], []]";
  if (like.tensors) {
    const std::int64_t bytes = 4 * like.width * like.width;
    for (int i = 0; i < like.layers; ++i) {
      for (const auto category :
           {TensorCategory::weight, TensorCategory::gradient, TensorCategory::optimizer_state}) {
        run.builder().add_tensor({.bytes = bytes, .category = category});
      }
    }
  }
  for (int step = 0; step < like.steps; ++step) {
    for (int i = 0; i < like.layers; ++i) {
      const std::string name = "ampere_sgemm_128x64_tn layer " + std::to_string(i);
      const TaskId made = run.kernel({.name = name,
                                      .duration_ns = like.product_ns,
                                      .operator_name = "aten::addmm",
                                      .shapes = product});
      run.kernel({.name = "vectorized_elementwise_kernel<4, GeluCUDAKernelImpl<float>>",
                  .duration_ns = 20'000,
                  .operator_name = "aten::gelu",
                  .shapes = "[[4096, " + n + "]]"});
      beside(made, Phase::forward);
    }
    for (int i = like.layers; i-- > 0;) {
      run.kernel({.duration_ns = 30'000,
                  .operator_name = "aten::gelu_backward",
                  .shapes = "[[4096, " + n + "], [4096, " + n + "]]",
                  .phase = Phase::backward});
      const TaskId made = run.kernel({.name = "ampere_sgemm_128x64_nn",
                                      .duration_ns = like.product_ns,
                                      .operator_name = "aten::mm",
                                      .shapes = "[[4096, " + n + "], " + square + "]",
                                      .phase = Phase::backward});
      run.kernel({.name = "ampere_sgemm_128x64_nt",
                  .duration_ns = like.product_ns,
                  .operator_name = "aten::mm",
                  .shapes = "[[" + n + ", 4096], [4096, " + n + "]]",
                  .phase = Phase::backward});
      beside(made, Phase::backward);
    }
    for (int i = 0; i < like.layers; ++i) {
      for (const std::string& shape : {"[" + square + ", []]", "[[" + n + "], []]"}) {
        for (const char* op : {"aten::mul_", "aten::addcmul_", "aten::addcdiv_"}) {
          run.kernel({.duration_ns = 20'000,
                      .operator_name = op,
                      .shapes = shape,
                      .phase = Phase::update});
        }
      }
    }
  }
  return run.build();
}

}  // namespace foretrace::test
