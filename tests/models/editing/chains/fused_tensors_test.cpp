#include <string>

#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& fusion_aware_checkpointing;
extern const WhatIfInfo& kernel_fusion;
extern const WhatIfInfo& reconstructed_batch_norm;
}  // namespace foretrace::what_ifs

using foretrace::Phase;
using foretrace::TaskGraph;
using foretrace::TaskId;
using foretrace::TensorCategory;
using foretrace::test::after;
using foretrace::test::ToyRun;

namespace {

constexpr std::int64_t mib = 1 << 20;

struct Recording {
  ToyRun run;

  TaskId call(std::string_view op, Phase phase = Phase::forward,
              std::string_view name = "vectorized_elementwise_kernel<4, float>") {
    const TaskId kernel =
        run.kernel({.name = name, .duration_ns = 100000, .operator_name = op, .phase = phase});
    return foretrace::make_id<TaskId>(foretrace::index(kernel) - 1);
  }
  void tensor(std::string_view op, TaskId allocated, TaskId freed) {
    run.builder().add_tensor({.bytes = mib,
                              .category = TensorCategory::activation,
                              .operator_name = run.builder().add_name(op),
                              .allocated_in = allocated,
                              .freed_in = freed});
  }
};

// One sign per tensor: its size in MiB, - if it is not allocated.
std::string sizes_after(const TaskGraph& graph, const foretrace::WhatIfInfo& info) {
  std::string sizes;
  const TaskGraph changed = after(graph, info);
  for (const auto& tensor : changed.context().tensors) {
    sizes += tensor.bytes == 0 ? '-' : static_cast<char>('0' + tensor.bytes / mib);
  }
  return sizes;
}

// mul -> exp -> relu_ (in place on what exp made) -> product, and its backward.
TaskGraph training() {
  Recording r;
  const TaskId mul = r.call("aten::mul");
  const TaskId exp = r.call("aten::exp");
  r.call("aten::relu_");
  const TaskId product = r.call("aten::mm", Phase::forward, "ampere_sgemm_128x64_tn");
  const TaskId later = r.call("aten::mm", Phase::forward, "ampere_sgemm_128x64_tn");
  const TaskId gradient = r.call("aten::mm", Phase::backward, "ampere_sgemm_128x64_nt");
  r.call("aten::threshold_backward", Phase::backward);
  const TaskId last = r.call("aten::mul", Phase::backward);
  r.tensor("aten::mul", mul, product);   // freed before the product is launched
  r.tensor("aten::mul", mul, later);     // the product may read it
  r.tensor("aten::mul", mul, gradient);  // backward reads it
  r.tensor("aten::exp", exp, last);      // leaves the chain
  return r.run.build();
}

}  // namespace

TEST_CASE("fused_tensors: only what nothing after the chain can read is never allocated") {
  CHECK(sizes_after(training(), foretrace::what_ifs::kernel_fusion) == "-111");
}

TEST_CASE(
    "fused_tensors: recomputing chains keep their output, though an in-place kernel ends it") {
  CHECK(sizes_after(training(), foretrace::what_ifs::fusion_aware_checkpointing) == "-1-1");
}

TEST_CASE(
    "fused_tensors: a batch norm's map is not kept before a convolution, before others it is") {
  Recording r;
  const char* norm = "cudnn::bn_fw_tr_1C11_kernel_NCHW<float>";
  const TaskId first = r.call("aten::cudnn_batch_norm", Phase::forward, norm);
  r.call("aten::relu_", Phase::forward, "clamp_min elementwise_kernel");
  r.call("aten::cudnn_convolution", Phase::forward, "implicit_convolve_sgemm<float>");
  const TaskId second = r.call("aten::cudnn_batch_norm", Phase::forward, norm);
  r.call("aten::relu_", Phase::forward, "clamp_min elementwise_kernel");
  r.call("aten::max_pool2d", Phase::forward, "max_pool_forward_nchw<float>");
  const TaskId last =
      r.call("aten::cudnn_convolution_backward", Phase::backward, "implicit_convolve_sgemm<float>");
  r.tensor("aten::cudnn_batch_norm", first, last);
  r.tensor("aten::cudnn_batch_norm", second, last);
  CHECK(sizes_after(r.run.build(), foretrace::what_ifs::reconstructed_batch_norm) == "-1");
}
