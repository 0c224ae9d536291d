#include "tests/models/toy_run.h"

namespace foretrace::optimizations {
extern const OptimizationInfo fusion_aware_checkpointing;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::optimizations::fusion_aware_checkpointing;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::ToyKernel;
using foretrace::test::ToyRun;

namespace {

// Reads and writes one million numbers: 100 us of bytes after 1.8 us of ramp-up.
constexpr ToyKernel gelu = {.name = "vectorized_elementwise_kernel<4, float>",
                            .duration_ns = 101800,
                            .operator_name = "aten::gelu",
                            .shapes = "[[1000000]]"};
// Reads the gradient and what gelu kept, writes a gradient: three passes of 50 us.
constexpr ToyKernel gelu_backward = {.name = "vectorized_elementwise_kernel<4, float>",
                                     .duration_ns = 151800,
                                     .operator_name = "aten::gelu_backward",
                                     .shapes = "[[1000000], [1000000]]",
                                     .phase = Phase::backward};
constexpr ToyKernel product = {.name = "ampere_sgemm_128x64_tn", .duration_ns = 10};

foretrace::TaskGraph one_step() {
  ToyRun run;
  run.kernel(product);
  for (int i = 0; i < 3; ++i) run.kernel(gelu);
  run.kernel(product);
  ToyKernel gradient = product;
  gradient.phase = Phase::backward;
  run.kernel(gradient);
  for (int i = 0; i < 3; ++i) run.kernel(gelu_backward);
  return run.build();
}

}  // namespace

TEST_CASE("fusion_aware_checkpointing: between products one tensor enters and one leaves") {
  const auto graph = one_step();
  const auto fused = after(graph, fusion_aware_checkpointing);
  CHECK(duration_of(fused, "fused chain") == 1800 + 100000);
  // Gradient in, gradient out, and the chain's input once instead of three saved tensors.
  CHECK(duration_of(fused, "fused backward chain") == 1800 + 150000);
  CHECK(count_of(fused, "ampere_sgemm_128x64_tn") == 3);
  const auto change = apply_to(graph, fusion_aware_checkpointing);
  REQUIRE(change.ok());
  // Two of three intermediates of 4 MB.
  CHECK(change->notes[0].find("2 intermediates (8 MB by shapes)") != std::string::npos);
}

TEST_CASE("fusion_aware_checkpointing: inference and compiled steps are declined") {
  ToyRun run;
  run.kernel(gelu);
  run.kernel(gelu);
  const auto declined = apply_to(run.build(), fusion_aware_checkpointing);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}
