#include "models/whatifs/parallelism/tensor_parallel.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/hardware/collectives/collective_costs.h"
#include "tests/configs.h"
#include "tests/models/toy_run.h"
#include "tests/models/toy_transformer.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& parallel;
extern const WhatIfInfo& activation_checkpointing;
extern const WhatIfInfo& gradient_accumulation;
extern const WhatIfInfo& flash_attention;
extern const WhatIfInfo& kernel_fusion;
extern const WhatIfInfo& gist_encoding;
}  // namespace foretrace::what_ifs

using namespace foretrace;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::Given;
using foretrace::test::span_ns;
using foretrace::test::tasks_named;
using foretrace::test::toy_accelerator;
using foretrace::test::toy_transformer;
using foretrace::what_ifs::parallel;

namespace {

constexpr const char* gemm = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x4_nn";

Given tensor(const char* ranks) { return {{"tensor", ranks}, {"cluster", "dgx_a100"}}; }

std::int64_t time_of(CollectiveKind kind, double bytes, std::uint32_t ranks) {
  const Cluster on = *find_cluster(*foretrace::test::shipped(), "dgx_a100");
  return std::llround(collective_time(on, {kind, bytes, place(on, {ranks, 1})}).ns);
}

}  // namespace

TEST_CASE("tensor: a pair of products has one all-reduce per direction, the one of Megatron") {
  const Accelerator a100 = toy_accelerator();
  const TaskGraph graph = after(toy_transformer(), parallel, tensor("4"), &a100);
  const std::vector<TaskId> exchanges = tasks_named(graph, "all-reduce of activations");
  // Two layers of two pairs, forward and backward; embedding forward, logits backward; the loss.
  REQUIRE(exchanges.size() == 2 * 2 * 2 + 1 + 1 + 1);
  const std::int64_t activation = 4096 * 1024 * 2;
  const auto whole = std::count_if(exchanges.begin(), exchanges.end(), [&](TaskId task) {
    return graph.work(task).bytes == activation;
  });
  CHECK(whole == 2 * 2 * 2 + 1 + 1);
  for (const TaskId task : exchanges) {
    CHECK(graph.duration_ns(task) ==
          time_of(CollectiveKind::all_reduce, static_cast<double>(graph.work(task).bytes), 4));
    CHECK(graph.lane_id(task) == graph.lane_id(exchanges[0]));
  }
}

TEST_CASE("tensor: what follows rows waits, what follows columns backward runs beside weights") {
  const Accelerator a100 = toy_accelerator();
  const TaskGraph graph = after(toy_transformer({.layers = 1}), parallel, tensor("4"), &a100);
  const Timeline timeline = simulate(graph);
  const std::vector<TaskId> products = tasks_named(graph, gemm);
  const std::vector<TaskId> exchanges = tasks_named(graph, "all-reduce of activations");
  // Forward qkv, proj, fc1, fc2, logits; backward two each.
  REQUIRE(products.size() == 5 + 10);
  // embedding, proj, fc2, loss, then logits, fc1 and qkv backward.
  REQUIRE(exchanges.size() == 7);
  CHECK(timeline.start_ns(exchanges[1]) >= timeline.end_ns(products[1]));
  CHECK(timeline.start_ns(products[2]) >= timeline.end_ns(exchanges[1]));
  // fc1's gradients: input is product 9, weight product 10; the exchange runs beside the latter.
  CHECK(timeline.start_ns(exchanges[5]) >= timeline.end_ns(products[9]));
  CHECK(timeline.start_ns(exchanges[5]) < timeline.end_ns(products[10]));
  CHECK(timeline.start_ns(products[11]) >= timeline.end_ns(exchanges[5]));
  // The second stream still waits for the loss.
  CHECK(timeline.start_ns(tasks_named(graph, "reads the loss")[0]) >=
        timeline.end_ns(tasks_named(graph, "softmax_backward")[0]));
}

TEST_CASE("tensor: inputs are collected beside their gradients, for those of the weights") {
  const Accelerator a100 = toy_accelerator();
  Given sequence = tensor("4");
  sequence.emplace_back("sequence", "true");
  const TaskGraph graph = after(toy_transformer({.layers = 1}), parallel, sequence, &a100);
  const Timeline timeline = simulate(graph);
  const std::vector<TaskId> products = tasks_named(graph, gemm);
  const std::vector<TaskId> gathers = tasks_named(graph, "all-gather of activations");
  // Forward qkv, fc1, logits; backward logits, fc2, fc1, proj, qkv, embedding.
  REQUIRE(gathers.size() == 9);
  const TaskId input = products[9];  // fc1's gradients, as above
  const TaskId weight = products[10];
  CHECK(timeline.start_ns(gathers[5]) < timeline.end_ns(input));
  CHECK(timeline.start_ns(weight) >= timeline.end_ns(gathers[5]));
}

TEST_CASE("tensor: copies on the device are divided with what they copy, and no others") {
  const Accelerator a100 = toy_accelerator();
  const TaskGraph graph = after(toy_transformer({.copies = true}), parallel, tensor("4"), &a100);
  for (const TaskId task : tasks_named(graph, "Memcpy DtoD (Device -> Device), activation")) {
    CHECK(graph.duration_ns(task) < 35'000);
  }
  const std::vector<TaskId> whole = tasks_named(graph, "Memcpy DtoD (Device -> Device), norm");
  REQUIRE(whole.size() == 2);
  for (const TaskId task : whole) CHECK(graph.duration_ns(task) == 100'000);
}

TEST_CASE("tensor: a rank does its part of products, attention and activation, and no other") {
  const Accelerator a100 = toy_accelerator();
  const TaskGraph before = toy_transformer();
  const TaskGraph graph = after(before, parallel, tensor("4"), &a100);
  const auto ratio = [&](const char* name, std::size_t i) {
    return static_cast<double>(graph.duration_ns(tasks_named(graph, name)[i])) /
           static_cast<double>(before.duration_ns(tasks_named(before, name)[i]));
  };
  for (std::size_t i = 0; i < tasks_named(before, gemm).size(); ++i) {
    CAPTURE(i);
    CHECK(ratio(gemm, i) >= 0.249);
    CHECK(ratio(gemm, i) < 0.5);
  }
  for (const char* inside :
       {"flash_fwd_kernel", "flash_bwd_kernel", "softmax_forward", "softmax_backward",
        "vectorized_elementwise_kernel<4, GeluCUDAKernelImpl>"}) {
    CAPTURE(inside);
    CHECK(ratio(inside, 0) < 0.35);
  }
  for (std::size_t i = 0; i < tasks_named(before, "layer_norm_kernel").size(); ++i) {
    CHECK(ratio("layer_norm_kernel", i) == 1.0);
  }
  // Weights of layers, embedding and logits are all divided: the update takes a quarter.
  CHECK(ratio("multi_tensor_apply_kernel<Adam>", 0) == doctest::Approx(0.25).epsilon(0.02));
  // Sequence parallelism divides all norms as well: what was looked up is scattered at once.
  Given sequence = tensor("4");
  sequence.emplace_back("sequence", "true");
  const TaskGraph by_tokens = after(before, parallel, sequence, &a100);
  const std::vector<TaskId> norms = tasks_named(by_tokens, "layer_norm_kernel");
  for (const TaskId norm : norms) CHECK(by_tokens.duration_ns(norm) < 40'000);
  // Before columns, before what undoes rows, for gradients of weights, for that of the embedding.
  CHECK(tasks_named(by_tokens, "all-gather of activations").size() == 5 + 4 + 5 + 1);
  CHECK(tasks_named(by_tokens, "reduce-scatter of activations").size() == 4 + 1 + 5);
}

TEST_CASE("tensor: what runs again is divided as the first time, and exchanged again") {
  using what_ifs::activation_checkpointing;
  const Accelerator a100 = toy_accelerator();
  const TaskGraph before =
      after(toy_transformer(), activation_checkpointing, {{"segments", "3"}}, &a100);
  const std::vector<TaskId> whole = tasks_named(before, gemm);
  REQUIRE(whole.size() > tasks_named(toy_transformer(), gemm).size());
  const TaskGraph graph = after(before, parallel, tensor("4"), &a100);
  const std::vector<TaskId> divided = tasks_named(graph, gemm);
  REQUIRE(divided.size() == whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CAPTURE(i);
    CHECK(graph.duration_ns(divided[i]) < before.duration_ns(whole[i]) / 2);
  }
  const auto exchanges = [&](const TaskGraph& of) {
    return tasks_named(of, "all-reduce of activations").size();
  };
  CHECK(exchanges(graph) > exchanges(after(toy_transformer(), parallel, tensor("4"), &a100)));
}

TEST_CASE("data: passes without an update of their own leave their gradients to a later exchange") {
  using what_ifs::gradient_accumulation;
  const Accelerator a100 = toy_accelerator();
  const Given data = {{"data", "8"}, {"cluster", "dgx_a100"}};
  const auto exchanges = [&](const TaskGraph& of) {
    return tasks_named(of, "all-reduce of gradients").size();
  };
  const std::size_t once = exchanges(after(toy_transformer(), parallel, data, &a100));
  REQUIRE(once > 0);
  const TaskGraph three = after(toy_transformer(), gradient_accumulation, {{"steps", "3"}}, &a100);
  CHECK(exchanges(after(three, parallel, data, &a100)) == once);
}

TEST_CASE("tensor: with data, gradients are those of a rank's part, and groups lie further apart") {
  const Accelerator a100 = toy_accelerator();
  Given both = tensor("4");
  both.emplace_back("data", "8");
  const TaskGraph graph = after(toy_transformer(), parallel, both, &a100);
  double bytes = 0;
  for (const TaskId task : tasks_named(graph, "all-reduce of gradients")) {
    bytes += static_cast<double>(graph.work(task).bytes);
  }
  const double parameters = 2 * 12 * 1024.0 * 1024 + 2 * 32000.0 * 1024;
  CHECK(bytes == doctest::Approx(parameters * 4 / 4).epsilon(1e-6));
  // Eight copies of a part, four ranks apart: two nodes are left of each four.
  CHECK(span_ns(graph) > span_ns(after(toy_transformer(), parallel, tensor("4"), &a100)));
}

TEST_CASE("tensor: generated text gathers its logits; shapes are needed and sizes must divide") {
  const Accelerator a100 = toy_accelerator();
  const TaskGraph graph = after(toy_transformer({.trains = false}), parallel, tensor("4"), &a100);
  CHECK(tasks_named(graph, "all-reduce of activations").size() == 2 * 2 + 1);
  CHECK(tasks_named(graph, "all-gather of activations").size() == 1);
  const auto error_of = [&](const TaskGraph& step, const char* ranks) {
    const auto change = apply_to(step, parallel, tensor(ranks), &a100);
    REQUIRE_FALSE(change.ok());
    return change.error().message;
  };
  CHECK(error_of(toy_transformer(), "3") == "tensor: got 3, expected a divisor of the 16 heads");
  CHECK(error_of(toy_transformer(), "32") == "tensor: got 32, expected a divisor of the 16 heads");
  CHECK(error_of(toy_transformer({.shapes = false}), "4").find("record_shapes=True") !=
        std::string::npos);
}

TEST_CASE("tensor: what another what-if put between products is divided, too") {
  const Accelerator a100 = toy_accelerator();
  const auto device_ns = [](const TaskGraph& graph) {
    std::int64_t ns = 0;
    for (std::size_t t = 0; t < graph.size(); ++t) {
      const auto task = make_id<TaskId>(t);
      if (graph.kind(task) == TaskKind::kernel) ns += graph.duration_ns(task);
    }
    return ns;
  };
  const TaskGraph whole = toy_transformer({.layers = 3, .eager = true});
  const std::int64_t alone = device_ns(after(whole, parallel, tensor("8"), &a100));
  const std::size_t exchanges =
      tasks_named(after(whole, parallel, tensor("8"), &a100), "all-reduce of activations").size();
  for (const WhatIfInfo* what_if :
       {&what_ifs::flash_attention, &what_ifs::kernel_fusion, &what_ifs::gist_encoding}) {
    CAPTURE(std::string(what_if->name));
    const TaskGraph changed = after(whole, *what_if, {}, &a100);
    const TaskGraph divided = after(changed, parallel, tensor("8"), &a100);
    // It never costs more than dividing alone and all that it adds to the undivided run.
    CHECK(device_ns(divided) <=
          alone + std::max<std::int64_t>(0, device_ns(changed) - device_ns(whole)));
    CHECK(tasks_named(divided, "all-reduce of activations").size() == exchanges);
  }
}
