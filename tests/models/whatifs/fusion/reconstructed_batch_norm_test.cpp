#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& edit;
extern const WhatIfInfo& reconstructed_batch_norm;
}  // namespace foretrace::what_ifs

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::reconstructed_batch_norm;

namespace {

foretrace::TaskGraph residual_block() {
  ToyRun run;
  run.kernel({.name = "implicit_convolve_sgemm<float>", .duration_ns = 50000});
  run.kernel({.name = "cudnn::bn_fw_tr_1C11_kernel_NCHW", .duration_ns = 21800});
  run.kernel({.name = "clamp_min elementwise_kernel",
              .duration_ns = 10000,
              .operator_name = "aten::relu"});
  run.kernel({.name = "AddFunctor elementwise_kernel",
              .duration_ns = 9000,
              .operator_name = "aten::add_"});
  run.kernel(
      {.name = "residual elementwise_kernel", .duration_ns = 8000, .operator_name = "aten::relu_"});
  run.synchronize();
  return run.build();
}

}  // namespace

TEST_CASE("reconstructed_batch_norm: half of the batch norm's bytes and the ReLU behind it go") {
  const auto graph = residual_block();
  const auto faster = after(graph, reconstructed_batch_norm);
  CHECK(duration_of(faster, "cudnn::bn_fw_tr_1C11_kernel_NCHW") == 1800 + 10000);
  CHECK(count_of(faster, "clamp_min elementwise_kernel") == 0);
  // Between the batch norm and this ReLU stands the residual addition.
  CHECK(count_of(faster, "residual elementwise_kernel") == 1);
  CHECK(span_ns(graph) - span_ns(faster) == 10000 + 10000);
  CHECK(count_of(after(graph, reconstructed_batch_norm, {{"relu", "all"}}),
                 "residual elementwise_kernel") == 0);
}

TEST_CASE("reconstructed_batch_norm: backward, the ReLU's gradient comes before the batch norm") {
  ToyRun run;
  run.kernel({.name = "threshold elementwise_kernel",
              .duration_ns = 7000,
              .operator_name = "aten::threshold_backward",
              .phase = Phase::backward});
  run.kernel(
      {.name = "cudnn::bn_bw_1C11_kernel_new", .duration_ns = 1800, .phase = Phase::backward});
  const auto faster = after(run.build(), reconstructed_batch_norm);
  CHECK(count_of(faster, "threshold elementwise_kernel") == 0);
}

TEST_CASE(
    "reconstructed_batch_norm: factor 1 without ReLUs changes nothing; layer norm is declined") {
  const auto graph = residual_block();
  const auto same = after(graph, reconstructed_batch_norm, {{"factor", "1"}, {"relu", "none"}});
  CHECK(span_ns(same) == span_ns(graph));
  ToyRun run;
  run.kernel({.name = "vectorized_layer_norm_kernel<float>", .duration_ns = 10});
  const auto declined = apply_to(run.build(), reconstructed_batch_norm);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}

TEST_CASE("reconstructed_batch_norm: a kernel put in that reads and writes nothing hides nothing") {
  const auto graph = residual_block();
  // Behind the convolution, the batch norm and its ReLU, each.
  const auto with = after(graph, foretrace::what_ifs::edit,
                          {{"select", "kind=kernel"}, {"insert", "probe"}, {"duration", "2 us"}});
  REQUIRE(count_of(with, "probe") == 5);
  const auto faster = after(with, reconstructed_batch_norm);
  CHECK(count_of(faster, "clamp_min elementwise_kernel") == 0);
  CHECK(count_of(faster, "probe") == 5);
  CHECK(span_ns(with) - span_ns(faster) ==
        span_ns(graph) - span_ns(after(graph, reconstructed_batch_norm)));
}
