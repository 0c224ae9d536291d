// A training step of a small transformer, kernel by kernel, with two streams that wait for each
// other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/models/toy_run.h"

namespace foretrace::test {

struct ToyTransformer {
  int layers = 2;
  int tokens = 4096;
  int hidden = 1024;
  int heads = 16;
  int vocabulary = 32000;
  bool trains = true;
  bool names_modules = false;
  std::int64_t loading_ns = 0;
  std::int64_t allocation_ns = 0;  ///< of a call before each attention
  bool shapes = true;              ///< recorded
  bool eager = false;              ///< attention of single operators
  bool copies = false;             ///< on the device: of the first norm and of each activation
};

/// Products take 1 ms per 1024 x 1024 numbers of weight, forward; the rest 100 us.
class ToyTransformerRun {
 public:
  explicit ToyTransformerRun(const ToyTransformer& model) : model_(model) {}

  TaskGraph build() {
    const LaneId beside = run_.add_stream(9);
    make_layers();
    const int h = model_.hidden;
    if (model_.loading_ns > 0) {
      run_.host_task("next batch", TaskKind::host, model_.loading_ns, 0, Phase::data_loading);
    }
    small("embedding_kernel", "aten::embedding",
          fmt::format("[[{},{}],[{}]]", model_.vocabulary, h, model_.tokens));
    for (int layer = 0; layer < model_.layers; ++layer) forward_layer(layer);
    layer_ = {};
    product(h, model_.vocabulary);
    small("softmax_forward", "aten::_log_softmax",
          fmt::format("[[{},{}]]", model_.tokens, model_.vocabulary));
    if (!model_.trains) return run_.build();
    phase_ = Phase::backward;
    const TaskId loss = small("softmax_backward", "aten::_log_softmax_backward_data",
                              fmt::format("[[{},{}]]", model_.tokens, model_.vocabulary));
    watch(beside, loss);
    undo(h, model_.vocabulary);
    for (int layer = model_.layers; layer-- > 0;) backward_layer(layer);
    layer_ = {};
    small("embedding_backward", "aten::embedding_dense_backward", "[]");
    phase_ = Phase::update;
    run_.kernel(
        {.name = "multi_tensor_apply_kernel<Adam>", .duration_ns = 4'000'000, .phase = phase_});
    return run_.build();
  }

 private:
  void make_layers() {
    if (!model_.names_modules) return;
    const LayerId root = run_.builder().add_layer("Model");
    for (int i = 0; i < model_.layers; ++i) {
      modules_.push_back(run_.builder().add_layer(fmt::format("Model/{}", i), root));
    }
  }
  TaskId launch(const std::string& name, std::int64_t ns, const std::string& op,
                const std::string& shapes) {
    return run_.kernel({.name = name,
                        .duration_ns = ns,
                        .operator_name = op,
                        .shapes = model_.shapes ? shapes : "",
                        .phase = phase_,
                        .launch_ns = 1000,
                        .layer = layer_});
  }
  TaskId small(const std::string& name, const std::string& op, const std::string& shapes) {
    return launch(name, 100'000, op, shapes);
  }
  TaskId norm() {
    return small("layer_norm_kernel", "aten::native_layer_norm",
                 fmt::format("[[{},{}]]", model_.tokens, model_.hidden));
  }
  TaskId multiply(int m, int k, int n) {
    const double mega = 1e-9 * m * k * n / 4.294967296;  // 4096 x 1024 x 1024
    return launch("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x4_nn",
                  static_cast<std::int64_t>(mega * 1e6), "aten::mm",
                  fmt::format("[[{},{}],[{},{}]]", m, k, k, n));
  }
  void product(int k, int n) { multiply(model_.tokens, k, n); }
  void undo(int k, int n) {
    multiply(model_.tokens, n, k);
    multiply(k, model_.tokens, n);
  }
  void attention(const char* name, const char* op) {
    const int width = model_.hidden / model_.heads;
    const std::string one = fmt::format("[1,{},{},{}]", model_.heads, model_.tokens, width);
    if (model_.allocation_ns > 0) {
      run_.host_task("cudaMalloc", TaskKind::host, model_.allocation_ns, 0, phase_);
    }
    if (model_.eager) return eager_attention();
    small(name, op, fmt::format("[{},{},{}]", one, one, one));
  }
  /// Scores, softmax, dropout, weighted values; backward two products on each side of the softmax.
  void eager_attention() {
    const int h = model_.heads;
    const int t = model_.tokens;
    const int width = model_.hidden / h;
    const auto batched = [&](int m, int k, int n) {
      small("ampere_fp16_s16816gemm_fp16_64x64_nn", "aten::bmm",
            fmt::format("[[{},{},{}],[{},{},{}]]", h, m, k, h, k, n));
    };
    const std::string scores = fmt::format("[1,{},{},{}]", h, t, t);
    if (phase_ == Phase::forward) {
      batched(t, width, t);
      small("softmax_warp_forward<c10::Half>", "aten::_softmax", fmt::format("[{},[],[]]", scores));
      small("fused_dropout_kernel_vec<c10::Half>", "aten::native_dropout",
            fmt::format("[{},[],[]]", scores));
      batched(t, t, width);
      return;
    }
    batched(t, t, width);
    batched(t, width, t);
    small("softmax_warp_backward<c10::Half>", "aten::_softmax_backward_data",
          fmt::format("[{},{},[],[]]", scores, scores));
    batched(t, t, width);
    batched(width, t, t);
  }
  void forward_layer(int layer) {
    if (model_.names_modules) layer_ = modules_[static_cast<std::size_t>(layer)];
    const int h = model_.hidden;
    norm();
    copy_on_device("Memcpy DtoD (Device -> Device), norm");
    product(h, 3 * h);
    attention("flash_fwd_kernel", "aten::_scaled_dot_product_flash_attention");
    product(h, h);
    norm();
    product(h, 4 * h);
    small("vectorized_elementwise_kernel<4, GeluCUDAKernelImpl>", "aten::gelu",
          fmt::format("[[{},{}]]", model_.tokens, 4 * h));
    copy_on_device("Memcpy DtoD (Device -> Device), activation");
    product(4 * h, h);
  }
  void copy_on_device(const char* name) {
    if (!model_.copies) return;
    run_.kernel({.name = name,
                 .duration_ns = 100'000,
                 .phase = phase_,
                 .launch_ns = 1000,
                 .kind = TaskKind::copy,
                 .layer = layer_});
  }
  void backward_layer(int layer) {
    if (model_.names_modules) layer_ = modules_[static_cast<std::size_t>(layer)];
    const int h = model_.hidden;
    undo(4 * h, h);
    small("vectorized_elementwise_kernel<4, GeluBackwardCUDAKernelImpl>", "aten::gelu_backward",
          fmt::format("[[{},{}],[{},{}]]", model_.tokens, 4 * h, model_.tokens, 4 * h));
    undo(h, 4 * h);
    norm();
    undo(h, h);
    attention("flash_bwd_kernel", "aten::_scaled_dot_product_flash_attention_backward");
    undo(h, 3 * h);
    norm();
  }
  /// A second stream reads the loss.
  void watch(LaneId beside, TaskId loss) {
    const LaneId main = run_.stream();
    run_.use_stream(beside);
    run_.wait_for(
        run_.kernel({.name = "reads the loss", .duration_ns = 1000, .phase = Phase::unknown}),
        loss);
    run_.use_stream(main);
  }

  ToyTransformer model_;
  ToyRun run_;
  Phase phase_ = Phase::forward;
  LayerId layer_{};
  std::vector<LayerId> modules_;
};

inline TaskGraph toy_transformer(const ToyTransformer& model = {}) {
  return ToyTransformerRun(model).build();
}

/// Tasks of this name, in id order.
inline std::vector<TaskId> tasks_named(const TaskGraph& graph, std::string_view name) {
  std::vector<TaskId> tasks;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (graph.name(make_id<TaskId>(i)) == name) tasks.push_back(make_id<TaskId>(i));
  }
  return tasks;
}

}  // namespace foretrace::test
