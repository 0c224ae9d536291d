#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& edit;
extern const WhatIfInfo& fusion_aware_checkpointing;
}  // namespace foretrace::what_ifs

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::ToyKernel;
using foretrace::test::ToyRun;
using foretrace::what_ifs::fusion_aware_checkpointing;

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

TEST_CASE(
    "fusion_aware_checkpointing: a product that reads a map waits for the kernels that make it") {
  using foretrace::TaskId;
  ToyRun run;
  const auto side = run.add_stream(9);
  const auto op = [&](const char* name, const char* operator_name, const char* shapes,
                      Phase phase) {
    return run.kernel({.name = name,
                       .duration_ns = 100'000,
                       .operator_name = operator_name,
                       .shapes = shapes,
                       .phase = phase});
  };
  const auto call = [](TaskId kernel) {
    return foretrace::make_id<TaskId>(foretrace::index(kernel) - 1);
  };
  constexpr const char* product = "ampere_sgemm_128x64_tn";
  constexpr const char* relu = "vectorized_elementwise_kernel<relu>";
  constexpr const char* gelu = "vectorized_elementwise_kernel<gelu>";
  const TaskId first = op(product, "aten::mm", "[[1]]", Phase::forward);
  const TaskId second = op(relu, "aten::relu", "[[2000]]", Phase::forward);
  const TaskId third = op(gelu, "aten::gelu", "[[4000]]", Phase::forward);
  run.bystander(side, third, 50'000);
  op(product, "aten::mm", "[[6000]]", Phase::forward);
  constexpr const char* pointwise = "vectorized_elementwise_kernel<tanh>";
  for (int i = 0; i < 2; ++i) op(pointwise, "aten::tanh", "[[900]]", Phase::forward);
  for (int i = 0; i < 2; ++i) op(pointwise, "aten::tanh_backward", "[[900]]", Phase::backward);
  op("ampere_sgemm_128x64_nt", "aten::mm", "[[6000]]", Phase::backward);
  op("vectorized_elementwise_kernel<gelu_backward>", "aten::gelu_backward", "[[4000]]",
     Phase::backward);
  op("vectorized_elementwise_kernel<relu_backward>", "aten::relu_backward", "[[2000]]",
     Phase::backward);
  op(product, "aten::mm", "[[1]]", Phase::backward);
  const TaskId end = run.host_task("end", foretrace::TaskKind::mark, 0, 0, Phase::backward);
  const auto keep = [&](TaskId made, std::int64_t bytes) {
    run.builder().add_tensor({.bytes = bytes,
                              .requested_bytes = bytes,
                              .category = foretrace::TensorCategory::activation,
                              .allocated_in = call(made),
                              .freed_in = end});
  };
  keep(first, 8192);
  keep(second, 16384);
  keep(third, 24064);
  const auto graph = run.build();
  const auto change = apply_to(graph, fusion_aware_checkpointing);
  REQUIRE_MESSAGE(change.ok(), change.error().message);
  CHECK(change->notes[0].find("2 kernels run again") != std::string::npos);
  // The chain of the forward pass is one kernel; its parts are there once more, before the
  // gradient.
  const auto changed = after(graph, fusion_aware_checkpointing);
  CHECK(count_of(changed, "fused chain") == 1);
  CHECK(count_of(changed, relu) == 2);
  CHECK(count_of(changed, gelu) == 2);
  const auto end_of_kernel = [&](const char* name) {
    const auto timeline = foretrace::simulate(changed);
    std::int64_t last = -1;
    for (std::size_t t = 0; t < changed.size(); ++t) {
      const auto task = foretrace::make_id<TaskId>(t);
      if (changed.name(task) == name) last = timeline.end_ns(task);
    }
    return last;
  };
  CHECK(end_of_kernel(gelu) == end_of_kernel("ampere_sgemm_128x64_nt") - 100'000);
  CHECK(end_of_kernel("bystander") > 0);
}

TEST_CASE(
    "fusion_aware_checkpointing: kernels that read and write nothing stand in no chain's way") {
  const auto graph = one_step();
  const auto with = after(graph, foretrace::what_ifs::edit,
                          {{"select", "kind=kernel"}, {"insert", "probe"}, {"duration", "2 us"}});
  const auto fused = after(with, fusion_aware_checkpointing);
  CHECK(count_of(fused, "fused chain") == 1);
  CHECK(count_of(fused, "fused backward chain") == 1);
  CHECK(count_of(fused, "probe") == count_of(with, "probe"));
}

TEST_CASE("fusion_aware_checkpointing: a fused kernel of another stream waits for what it reads") {
  using foretrace::TaskId;
  ToyRun run;
  const auto main = run.stream();
  const auto beside = run.add_stream(9);
  const auto op = [&](const char* name, const char* operator_name, const char* shapes,
                      Phase phase) {
    return run.kernel({.name = name,
                       .duration_ns = 100'000,
                       .operator_name = operator_name,
                       .shapes = shapes,
                       .phase = phase});
  };
  constexpr const char* product = "ampere_sgemm_128x64_tn";
  constexpr const char* relu = "vectorized_elementwise_kernel<relu>";
  constexpr const char* gelu = "vectorized_elementwise_kernel<gelu>";
  constexpr const char* tanh = "vectorized_elementwise_kernel<tanh>";
  const TaskId first = op(product, "aten::mm", "[[1]]", Phase::forward);
  const TaskId second = op(relu, "aten::relu", "[[2000]]", Phase::forward);
  const TaskId third = op(gelu, "aten::gelu", "[[4000]]", Phase::forward);
  op(product, "aten::mm", "[[6000]]", Phase::forward);
  for (int i = 0; i < 2; ++i) op(tanh, "aten::tanh", "[[900]]", Phase::forward);
  const TaskId loss = op(product, "aten::mm", "[[1]]", Phase::backward);
  // On another stream, behind the loss: a chain that reads the map before the product does.
  run.use_stream(beside);
  run.wait_for(op(tanh, "aten::tanh_backward", "[[6000]]", Phase::backward), loss);
  const TaskId chain = op(tanh, "aten::tanh_backward", "[[6000]]", Phase::backward);
  run.use_stream(main);
  run.wait_for(op("ampere_sgemm_128x64_nt", "aten::mm", "[[6000]]", Phase::backward), chain);
  op("vectorized_elementwise_kernel<gelu_backward>", "aten::gelu_backward", "[[4000]]",
     Phase::backward);
  op("vectorized_elementwise_kernel<relu_backward>", "aten::relu_backward", "[[2000]]",
     Phase::backward);
  const TaskId end = run.host_task("end", foretrace::TaskKind::mark, 0, 0, Phase::backward);
  const auto keep = [&](TaskId made, std::int64_t bytes) {
    run.builder().add_tensor(
        {.bytes = bytes,
         .requested_bytes = bytes,
         .category = foretrace::TensorCategory::activation,
         .allocated_in = foretrace::make_id<TaskId>(foretrace::index(made) - 1),
         .freed_in = end});
  };
  keep(first, 8192);
  keep(second, 16384);
  keep(third, 24064);
  const auto changed = after(run.build(), fusion_aware_checkpointing);
  const auto timeline = foretrace::simulate(changed);
  std::int64_t made_again = -1;
  std::int64_t chain_begins = -1;
  for (std::size_t t = 0; t < changed.size(); ++t) {
    const auto task = foretrace::make_id<TaskId>(t);
    if (changed.name(task) == gelu) made_again = std::max(made_again, timeline.end_ns(task));
    if (changed.name(task) == "fused backward chain" && changed.lane_id(task) == beside) {
      chain_begins = timeline.start_ns(task);
    }
  }
  REQUIRE(count_of(changed, gelu) == 2);
  REQUIRE(chain_begins >= 0);
  CHECK(chain_begins >= made_again);
}
