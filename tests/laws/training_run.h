// Random recorded runs that look like deep learning: steps of loading, forward, backward, update,
// with kernels of all classes, with and without shapes, modules, a second thread and second stream.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sim/graph/graph_builder.h"
#include "tests/sim/graph/random_change.h"

namespace foretrace::test {

struct KernelKind {
  std::string_view name;
  std::string_view op;
  std::string_view shapes;
  std::string_view types;
};

/// What a model's kernels look like: names of libraries, operators, shapes and types of inputs.
inline constexpr std::array kernel_kinds = {
    KernelKind{"ampere_sgemm_128x64_tn", "aten::addmm", "[[256],[512,128],[128,256]]", "float"},
    KernelKind{"ampere_fp16_s16816gemm_fp16_128x64_tn", "aten::mm", "[[512,256],[256,128]]",
               "c10::Half"},
    KernelKind{"ampere_fp16_s16816gemm_fp16_64x64_nn", "aten::bmm", "[[64,32,16],[64,16,32]]",
               "c10::Half"},
    KernelKind{"softmax_warp_forward<float, float, float>", "aten::_softmax", "[[64,32,32],[],[]]",
               "float"},
    KernelKind{"ampere_sgemm_32x128_nt", "aten::bmm", "[[64,32,32],[64,32,16]]", "float"},
    KernelKind{"implicit_convolve_sgemm<float, float>", "aten::cudnn_convolution",
               "[[16,3,32,32],[64,3,3,3]]", "float"},
    KernelKind{"sm80_xmma_wgrad_implicit_gemm", "aten::convolution_backward",
               "[[16,64,16,16],[16,32,16,16],[64,32,3,3]]", "float"},
    KernelKind{"cudnn::bn_fw_tr_1C11_kernel_NCHW<float>", "aten::cudnn_batch_norm",
               "[[16,64,16,16],[64],[64],[64],[64]]", "float"},
    KernelKind{"cudnn::bn_bw_1C11_kernel_new<float>", "aten::cudnn_batch_norm_backward",
               "[[16,64,16,16],[16,64,16,16],[64]]", "float"},
    KernelKind{"void cudnn::ops::nchwToNhwcKernel<float>", "aten::cudnn_convolution", "", ""},
    KernelKind{"vectorized_elementwise_kernel<4, clamp_min_scalar_kernel_impl<float>>",
               "aten::clamp_min_", "[[16,64,16,16],[]]", "float"},
    KernelKind{"vectorized_elementwise_kernel<4, threshold_kernel_impl<float>>",
               "aten::threshold_backward", "[[16,64,16,16],[16,64,16,16]]", "float"},
    KernelKind{"vectorized_layer_norm_kernel<float>", "aten::native_layer_norm",
               "[[16,32,128],[],[128],[128]]", "float"},
    KernelKind{"vectorized_elementwise_kernel<4, GeluCUDAKernelImpl<float>>", "aten::gelu",
               "[[16,32,256]]", "float"},
    KernelKind{"vectorized_elementwise_kernel<4, AddFunctor<float>>", "aten::add_",
               "[[256,128],[256,128],[]]", "float"},
    KernelKind{"fused_dropout_kernel_vec<float>", "aten::native_dropout", "[[16,32,128]]", "float"},
    KernelKind{"reduce_kernel<512, 1, ReduceOp<float>>", "aten::sum", "[[512,256]]", "float"},
    KernelKind{"indexSelectLargeIndex<float>", "aten::embedding", "[[1000000,64],[16,32]]",
               "float"},
    KernelKind{"multi_tensor_apply_kernel<AdamFunctor>", "aten::_foreach_add_", "", ""},
    KernelKind{"flash_fwd_kernel<c10::Half>", "aten::_flash_attention_forward",
               "[[16,32,8,16],[16,32,8,16],[16,32,8,16]]", "c10::Half"},
    KernelKind{"cusparse::csrmm_kernel<float>", "aten::_sparse_mm", "", ""},
    KernelKind{"my_own_kernel", "", "", ""}};

class TrainingRun {
 public:
  explicit TrainingRun(Choices& choices) : choices_(choices) {
    host_ = builder_.add_lane({.kind = LaneKind::host_thread, .number = 1, .name = "main"});
    engine_ = builder_.add_lane({.kind = LaneKind::host_thread, .number = 2, .name = "autograd"});
    stream_ = builder_.add_lane(
        {.kind = LaneKind::stream, .device = 0, .number = 7, .queue_depth = 1024, .name = {}});
    side_ = builder_.add_lane({.kind = LaneKind::stream, .device = 0, .number = 8, .name = {}});
    layers_.push_back(LayerId{0});
    if (!choices_.one_in(3)) add_modules();
  }

  Result<TaskGraph> build() {
    builder_.add_tensor({.bytes = 1 << 26, .category = TensorCategory::weight});
    const std::uint32_t steps = 1 + choices_.below(3);
    for (std::uint32_t s = 0; s < steps; ++s) step(static_cast<std::int32_t>(s));
    return std::move(builder_).build();
  }

 private:
  void add_modules() {
    const LayerId root = builder_.add_layer("Net");
    for (int i = 0; i < 4; ++i) {
      layers_.push_back(builder_.add_layer("Net/Block_" + std::to_string(i), root));
    }
  }

  TaskId host_task(std::string_view name, TaskKind kind, LaneId lane, Phase phase,
                   TaskPart part = TaskPart::whole) {
    Work work;
    work.name = builder_.add_name(name);
    work.kind = kind;
    work.part = part;
    TaskSpec task;
    task.lane = lane;
    task.work = builder_.add_work(work);
    task.kind = kind;
    task.duration_ns = part == TaskPart::finish ? 0 : choices_.below(6000);
    task.segment_ns = part == TaskPart::finish ? 0 : choices_.below(20000);
    task.phase = phase;
    task.step = number_;
    return builder_.add_task(task);
  }

  void device_task(TaskId call, const KernelKind& kind, TaskKind task_kind, Phase phase) {
    Work work;
    work.name = builder_.add_name(kind.name);
    work.operator_name = builder_.add_name(kind.op);
    if (shapes_) {
      work.shapes = builder_.add_name(kind.shapes);
      work.types = builder_.add_name(kind.types);
    }
    work.kind = task_kind;
    if (choices_.one_in(2)) work.grid = {static_cast<std::int32_t>(1 + choices_.below(300)), 4, 1};
    TaskSpec task;
    task.lane = choices_.one_in(12) ? side_ : stream_;
    task.work = builder_.add_work(work);
    task.kind = task_kind;
    task.duration_ns = 1000 + choices_.below(200000);
    task.segment_ns = choices_.below(1500);
    task.phase = phase;
    task.layer = layers_[choices_.below(static_cast<std::uint32_t>(layers_.size()))];
    task.step = number_;
    const TaskId id = builder_.add_task(task);
    wait_for_other_stream(id);
    last_on_[task.lane == side_ ? 1 : 0] = id;
    if (call == none<TaskId>) return;
    builder_.add_dependency({.source = end_of(call),
                             .task = id,
                             .kind = DependencyKind::launch,
                             .lag_ns = choices_.below(8000)});
  }

  // Events between the streams, recorded ones and those that are known as rules.
  void wait_for_other_stream(TaskId id) {
    const bool on_side = builder_.columns().lane[index(id)] == side_;
    const TaskId other = last_on_[on_side ? 0 : 1];
    if (other == none<TaskId> || !choices_.one_in(5)) return;
    if (choices_.one_in(2)) {
      builder_.add_dependency(
          {.source = end_of(other), .task = id, .kind = DependencyKind::event_wait});
    } else {
      builder_.add_wait({.task = id,
                         .at = choices_.one_in(2) ? id : other,
                         .lane = on_side ? stream_ : side_,
                         .kind = DependencyKind::event_wait});
    }
  }

  void kernels(Phase phase, LaneId lane, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto& kind = kernel_kinds[choices_.below(kernel_kinds.size())];
      if (choices_.one_in(40)) {
        device_task(none<TaskId>, kind, TaskKind::kernel, phase);
        continue;
      }
      const TaskId call = host_task("cudaLaunchKernel", TaskKind::launch, lane, phase);
      device_task(call, kind, TaskKind::kernel, phase);
      hold_memory(phase, call);
      pass_memory(phase, call, kind.op);
      if (choices_.one_in(30)) device_task(call, kind, TaskKind::kernel, phase);
      if (choices_.one_in(20)) attention(phase, lane);
      if (choices_.one_in(40)) synchronize(lane);
    }
  }

  // Half of the forward calls allocate a map; backward calls free them, last made first.
  void hold_memory(Phase phase, TaskId call) {
    if (phase == Phase::forward && choices_.one_in(2)) {
      Tensor map;
      map.bytes = 512 * (1 + static_cast<std::int64_t>(choices_.below(1U << 20)));
      map.category = TensorCategory::activation;
      map.allocated_in = call;
      held_.push_back(map);
    } else if (phase == Phase::backward && !held_.empty() && choices_.one_in(2)) {
      held_.back().freed_in = call;
      builder_.add_tensor(held_.back());
      held_.pop_back();
    }
  }

  // Every fourth call makes a tensor that goes at the next call of its thread but one.
  void pass_memory(Phase phase, TaskId call, std::string_view op) {
    passing_.erase(std::remove_if(passing_.begin(), passing_.end(),
                                  [&](Passing& passing) {
                                    if (passing.phase != phase || ++passing.age < 2) return false;
                                    passing.tensor.freed_in = call;
                                    builder_.add_tensor(passing.tensor);
                                    return true;
                                  }),
                   passing_.end());
    if (!choices_.one_in(4)) return;
    Tensor tensor;
    tensor.bytes = 512 * (1 + static_cast<std::int64_t>(choices_.below(1U << 16)));
    tensor.category = TensorCategory::temporary;
    tensor.phase = phase;
    tensor.operator_name = builder_.add_name(op);
    tensor.allocated_in = call;
    passing_.push_back({tensor, phase, 0});
  }

  // Products around a softmax, as attention in single operators has them.
  void attention(Phase phase, LaneId lane) {
    std::vector<std::size_t> order = {2, 3, 4};
    if (phase == Phase::backward) order = {2, 4, 3, 2, 4};
    for (const std::size_t kind : order) {
      const TaskId call = host_task("cudaLaunchKernel", TaskKind::launch, lane, phase);
      device_task(call, kernel_kinds[kind], TaskKind::kernel, phase);
    }
  }

  void synchronize(LaneId lane) {
    const TaskId begin = host_task("cudaStreamSynchronize", TaskKind::synchronization, lane,
                                   Phase::unknown, TaskPart::begin);
    const TaskId finish = host_task("cudaStreamSynchronize", TaskKind::synchronization, lane,
                                    Phase::unknown, TaskPart::finish);
    builder_.add_wait({.task = finish,
                       .at = begin,
                       .lane = stream_,
                       .kind = DependencyKind::synchronization,
                       .late_after = start_of(begin)});
  }

  void step(std::int32_t number) {
    number_ = number;
    const TaskId begin = host_task("step begin", TaskKind::mark, host_, Phase::unknown);
    const TaskId copy = host_task("cudaMemcpyAsync", TaskKind::launch, host_, Phase::data_loading);
    device_task(copy, {"Memcpy HtoD (Pageable -> Device)", "aten::copy_", "", ""}, TaskKind::copy,
                Phase::data_loading);
    shapes_ = !choices_.one_in(3);
    kernels(Phase::forward, host_, 3 + choices_.below(40));
    if (!choices_.one_in(4)) {
      const TaskId first = host_task("autograd begins", TaskKind::host,
                                     choices_.one_in(3) ? host_ : engine_, Phase::backward);
      builder_.add_dependency(
          {.source = end_of(copy), .task = first, .kind = DependencyKind::hand_over});
      kernels(Phase::backward, choices_.one_in(3) ? host_ : engine_, 3 + choices_.below(60));
      kernels(Phase::update, host_, choices_.below(30));
    }
    synchronize(host_);
    for (const Tensor& map : held_) builder_.add_tensor(map);  // outlive the window
    held_.clear();
    for (const Passing& passing : passing_) builder_.add_tensor(passing.tensor);
    passing_.clear();
    const TaskId end = host_task("step end", TaskKind::mark, host_, Phase::unknown);
    builder_.add_step({.rank = 0, .number = number, .begin = begin, .end = end});
  }

  Choices& choices_;
  GraphBuilder builder_;
  LaneId host_{};
  LaneId engine_{};
  LaneId stream_{};
  LaneId side_{};
  std::array<TaskId, 2> last_on_ = {none<TaskId>, none<TaskId>};  // of stream_ and side_
  std::vector<LayerId> layers_;
  struct Passing {
    Tensor tensor;
    Phase phase = Phase::unknown;
    int age = 0;
  };
  std::vector<Tensor> held_;
  std::vector<Passing> passing_;
  std::int32_t number_ = 0;
  bool shapes_ = true;
};

}  // namespace foretrace::test
