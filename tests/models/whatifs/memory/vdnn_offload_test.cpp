#include <vector>

#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& vdnn_offload;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::vdnn_offload;

namespace {

// Two convolutions that read 12 MB each, and their backward.
foretrace::TaskGraph two_layers() {
  ToyRun run;
  for (int i = 0; i < 2; ++i) {
    run.kernel({.name = "implicit_convolve_sgemm<float, float>",
                .duration_ns = 100000,
                .operator_name = "aten::cudnn_convolution",
                .shapes = "[[3, 10, 320, 320], [10, 10, 3, 3]]"});
  }
  for (int i = 0; i < 2; ++i) {
    run.kernel({.name = "backward wgrad", .duration_ns = 200000, .phase = Phase::backward});
  }
  run.synchronize();
  return run.build();
}
constexpr double map_bytes = 3.0 * 10 * 320 * 320 * 4;

}  // namespace

TEST_CASE("vdnn_offload: every map leaves and returns at the bandwidth of the link") {
  const auto offloaded = after(two_layers(), vdnn_offload, {{"bandwidth", "12 GB/s"}});
  CHECK(count_of(offloaded, "offload to host") == 2);
  CHECK(count_of(offloaded, "prefetch to device") == 2);
  // 1.8 us to set up and 12.288 MB / 12 GB/s = 1.024 ms.
  CHECK(duration_of(offloaded, "offload to host") == 1800 + map_bytes / 12);
  // One after the other: out, out, in, in; then the last backward kernel.
  CHECK(span_ns(offloaded) > 4 * 1024000);
}

TEST_CASE("vdnn_offload: an endless link costs nothing but the setting up") {
  const auto graph = two_layers();
  const auto offloaded = after(graph, vdnn_offload, {{"bandwidth", "10000 GB/s"}});
  CHECK(span_ns(offloaded) - span_ns(graph) < 4 * 4000);
}

TEST_CASE("vdnn_offload: without waiting, forward goes on while maps leave") {
  const auto graph = two_layers();
  const auto safe = span_ns(after(graph, vdnn_offload));
  CHECK(span_ns(after(graph, vdnn_offload, {{"safe", "false"}})) <= safe);
}

TEST_CASE("vdnn_offload: small maps stay, inference keeps nothing") {
  CHECK_FALSE(apply_to(two_layers(), vdnn_offload, {{"least", "100 MB"}}).ok());
  ToyRun run;
  run.kernel({.name = "implicit_convolve_sgemm", .duration_ns = 10});
  const auto declined = apply_to(run.build(), vdnn_offload);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}

TEST_CASE("vdnn_offload: a recorded tensor leaves at its copy and returns with the prefetch") {
  ToyRun run;
  const auto made = run.kernel({.name = "conv", .duration_ns = 100});
  run.kernel({.name = "relu", .duration_ns = 100});
  run.kernel({.name = "pool", .duration_ns = 100});
  run.kernel({.name = "pool backward", .duration_ns = 100, .phase = Phase::backward});
  const auto last = run.kernel({.name = "wgrad", .duration_ns = 100, .phase = Phase::backward});
  const auto after_last =
      run.kernel({.name = "dgrad", .duration_ns = 100, .phase = Phase::backward});
  // Calls stand right before their kernels.
  const auto call_of = [](foretrace::TaskId kernel) {
    return foretrace::make_id<foretrace::TaskId>(foretrace::index(kernel) - 1);
  };
  foretrace::Tensor map;
  map.bytes = 8 << 20;
  map.category = foretrace::TensorCategory::activation;
  map.allocated_in = call_of(made);
  map.freed_in = call_of(after_last);
  run.builder().add_tensor(map);
  const auto graph = run.build();
  const auto change = apply_to(graph, vdnn_offload);
  REQUIRE_MESSAGE(change.ok(), change.error().message);
  REQUIRE(change->tensors.size() == 1);
  CHECK(change->tensors[0].bytes == 0);
  REQUIRE(change->new_tensors.size() == 2);
  CHECK(change->new_tensors[0].allocated_in == call_of(made));
  CHECK(change->new_tensors[1].freed_in == call_of(after_last));
  const auto kind_of = [&](foretrace::TaskId inserted) {
    return change->inserted[foretrace::index(inserted) - graph.size()].task.kind;
  };
  CHECK(kind_of(change->new_tensors[0].freed_in) == foretrace::TaskKind::launch);
  CHECK(kind_of(change->new_tensors[1].allocated_in) == foretrace::TaskKind::launch);
  CHECK(index(last) < graph.size());
}

namespace {

/// conv, batch norm, relu in place, conv; or the two in the middle as one kernel. The results of
/// conv 1 and of the batch norm are kept for the backward pass; conv 2 reads the second one.
foretrace::TaskGraph normalized(bool is_fused) {
  ToyRun run;
  const auto call_of = [](foretrace::TaskId kernel) {
    return foretrace::make_id<foretrace::TaskId>(foretrace::index(kernel) - 1);
  };
  const char* const shape = "[[16, 64, 32, 32], [64]]";
  const auto conv = [&] {
    return run.kernel({.name = "implicit_convolve_sgemm<float, float>",
                       .duration_ns = 1000,
                       .operator_name = "aten::cudnn_convolution",
                       .shapes = "[[16, 64, 32, 32], [64, 64, 3, 3]]"});
  };
  std::vector<foretrace::TaskId> made = {conv()};
  made.push_back(run.kernel({.name = "cudnn::bn_fw_tr_1C11_kernel_NCHW<float>",
                             .duration_ns = 1000,
                             .operator_name = "aten::cudnn_batch_norm",
                             .shapes = shape}));
  if (!is_fused) {
    run.kernel({.name = "vectorized_elementwise_kernel<4, clamp_min_scalar_kernel_impl<float>>",
                .duration_ns = 1000,
                .operator_name = "aten::clamp_min_",
                .shapes = "[[16, 64, 32, 32], []]"});
  }
  conv();
  std::vector<foretrace::TaskId> backward;
  for (int i = 0; i < 4; ++i) {
    backward.push_back(
        run.kernel({.name = "backward", .duration_ns = 1000, .phase = Phase::backward}));
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    foretrace::Tensor map;
    map.bytes = 4 << 20;
    map.category = foretrace::TensorCategory::activation;
    map.allocated_in = call_of(made[i]);
    map.freed_in = call_of(backward[3 - i]);
    run.builder().add_tensor(map);
  }
  return run.build();
}

}  // namespace

TEST_CASE(
    "vdnn_offload: convolutions read as many maps behind fused kernels as behind single ones") {
  for (const bool is_fused : {false, true}) {
    CAPTURE(is_fused);
    const auto graph = normalized(is_fused);
    const auto count = [&](const char* policy) {
      return count_of(after(graph, vdnn_offload, {{"policy", policy}}), "offload to host");
    };
    CHECK(count("all") == 2);
    CHECK(count("conv") == 1);
  }
}
