#include "models/editing/parameters/weight_uses.h"

#include <doctest/doctest.h>

#include "models/editing/kernels/kernel_editor.h"
#include "tests/models/toy_run.h"

using foretrace::TaskGraph;
using foretrace::editing::KernelEditor;
using foretrace::editing::weight_uses;
using foretrace::test::shipped;
using foretrace::test::ToyRun;

TEST_CASE("weight_uses: a call reads its weight once, however many kernels it launches") {
  ToyRun run;
  const auto convolution = [&run](const char* kernel, const char* shapes) {
    run.kernel({.name = kernel,
                .duration_ns = 1000,
                .operator_name = "aten::miopen_convolution",
                .shapes = shapes});
  };
  // Transposed, convolved, transposed back, and padding made whole; then a layer of another size.
  for (const char* kernel : {"transpose_a", "transpose_b", "igemm_fwd_gtcx", "transpose_c", "cast"})
    convolution(kernel, "[[8, 64, 56, 56], [128, 64, 3, 3]]");
  const auto side = run.add_stream(9);
  run.use_stream(side);
  for (const char* kernel : {"transpose_a", "igemm_fwd_gtcx", "transpose_c"})
    convolution(kernel, "[[8, 128, 28, 28], [256, 128, 3, 3]]");
  const TaskGraph graph = run.build();
  const KernelEditor editor({graph, nullptr, *shipped()});
  const auto uses = weight_uses(editor, editor.kernels());
  REQUIRE(uses.size() == 2);
  CHECK(uses[0].sizes == std::vector<double>{128.0 * 64 * 9});
  CHECK(uses[1].sizes == std::vector<double>{256.0 * 128 * 9});
  CHECK(uses[1].kernel == 5);
}

TEST_CASE("weight_uses: products inside one convolution read no weight of their own") {
  ToyRun run;
  const auto side = run.add_stream(9);
  const auto call = [&run](const char* op, const char* shapes,
                           const std::vector<const char*>& kernels) {
    for (const char* kernel : kernels) {
      run.kernel({.name = kernel, .duration_ns = 1000, .operator_name = op, .shapes = shapes});
    }
  };
  // By Fourier transforms, then with precomputed indices; a stream beside waits for the first.
  call("aten::cudnn_convolution", "[[8, 64, 56, 56], [128, 64, 3, 3]]",
       {"fft2d_r2c_32x32<float>", "flip_filter<float>", "fft2d_r2c_32x32<float>",
        "sm80_xmma_gemm_cf32cf32_cf32f32_cf32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma",
        "fft2d_c2r_32x32<float>"});
  run.bystander(side, run.kernel({.name = "relu", .duration_ns = 1000}), 500);
  call("aten::cudnn_convolution", "[[8, 128, 28, 28], [256, 128, 3, 3]]",
       {"kern_precompute_indices<false>", "precomputed_convolve_sgemm<float, 1024, 5>"});
  // Two products in a row are two calls.
  call("aten::mm", "[[64, 1024], [1024, 1024]]",
       {"ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_tn"});
  const TaskGraph graph = run.build();
  const KernelEditor editor({graph, nullptr, *shipped()});
  std::vector<double> sizes;
  for (const auto& use : weight_uses(editor, editor.kernels())) {
    sizes.insert(sizes.end(), use.sizes.begin(), use.sizes.end());
  }
  CHECK(sizes == std::vector<double>{128.0 * 64 * 9, 256.0 * 128 * 9, 1 << 20, 1 << 20});
}

TEST_CASE("weight_uses: lookups in a row read a table each, of one size or not") {
  ToyRun run;
  const auto side = run.add_stream(9);
  for (const char* op : {"aten::_embedding_bag", "aten::embedding"}) {
    for (int i = 0; i < 3; ++i) {
      run.kernel({.name = "EmbeddingBag_updateOutputKernel_sum_mean<float>",
                  .duration_ns = 1000,
                  .operator_name = op,
                  .shapes = "[[100000, 64], [2048], [64]]"});
    }
    run.bystander(side, run.kernel({.name = "relu", .duration_ns = 1000}), 500);
  }
  const TaskGraph graph = run.build();
  const KernelEditor editor({graph, nullptr, *shipped()});
  const auto uses = weight_uses(editor, editor.kernels());
  REQUIRE(uses.size() == 6);
  for (const auto& use : uses) CHECK(use.sizes == std::vector<double>{100'000.0 * 64});
}

TEST_CASE("weight_uses: tables of fused lookups count with what their optimizer keeps") {
  const auto tables_of = [](const char* op) {
    ToyRun run;
    const auto side = run.add_stream(9);
    const auto lookup = run.kernel({.name = "split_embedding_codegen_forward_unweighted_kernel",
                                    .duration_ns = 1000,
                                    .operator_name = op,
                                    .shapes = "[[0], [640000], [0], [0, 0], [3]]"});
    run.bystander(side, lookup, 500);
    const TaskGraph graph = run.build();
    const KernelEditor editor({graph, nullptr, *shipped()});
    return fused_tables(editor, editor.kernels());
  };
  const auto adagrad = tables_of("fbgemm::split_embedding_codegen_lookup_adagrad_function");
  CHECK(adagrad.numbers == 640000);
  CHECK(adagrad.state_bytes == 4 * 640000);
  CHECK(tables_of("fbgemm::split_embedding_codegen_lookup_adam_function").state_bytes ==
        8 * 640000);
  const auto by_rows = tables_of("fbgemm::split_embedding_codegen_lookup_rowwise_adagrad_function");
  CHECK(by_rows.numbers == 640000);
  CHECK(by_rows.state_bytes == 0);
  CHECK(tables_of("aten::embedding").numbers == 0);
}
