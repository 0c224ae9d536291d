#include <array>

#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& activation_checkpointing;
}

using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::span_ns;
using foretrace::test::ToyKernel;
using foretrace::test::ToyRun;
using foretrace::what_ifs::activation_checkpointing;

namespace {

constexpr ToyKernel forward = {.name = "ampere_sgemm_128x64_tn", .duration_ns = 10, .launch_ns = 2};
constexpr ToyKernel backward = {
    .name = "backward sgemm", .duration_ns = 20, .phase = Phase::backward, .launch_ns = 2};

foretrace::TaskGraph four_layers() {
  ToyRun run;
  for (int i = 0; i < 4; ++i) run.kernel(forward);
  for (int i = 0; i < 4; ++i) run.kernel(backward);
  run.synchronize();
  return run.build();
}

}  // namespace

TEST_CASE("activation_checkpointing: all segments but the last run again before their backward") {
  const auto graph = four_layers();
  REQUIRE(span_ns(graph) == 2 + 4 * 10 + 4 * 20);
  // Two segments of two kernels: the first one runs again, 2 x 10 ns.
  const auto again = after(graph, activation_checkpointing, {{"segments", "2"}});
  CHECK(count_of(again, "ampere_sgemm_128x64_tn") == 6);
  CHECK(span_ns(again) == span_ns(graph) + 20);
  // Four products make sqrt(4) = 2 segments.
  CHECK(span_ns(after(graph, activation_checkpointing)) == span_ns(graph) + 20);
}

TEST_CASE("activation_checkpointing: the copies stand before the backward kernels that need them") {
  const auto again = after(four_layers(), activation_checkpointing, {{"segments", "4"}});
  // Mirrored: 4' is not repeated, so that backward 4 stands first, then 3 again, backward 3, ...
  std::string order;
  for (std::size_t i = 0; i < again.size(); ++i) {
    const auto task = foretrace::make_id<foretrace::TaskId>(i);
    if (again.kind(task) != foretrace::TaskKind::kernel) continue;
    order += again.name(task) == "backward sgemm" ? 'b' : 'f';
  }
  CHECK(order == "ffffbfbfbfb");
}

TEST_CASE("activation_checkpointing: which blocks run again does not hang on how fast they are") {
  const auto repeated = [](std::int64_t first_ns, std::int64_t head_ns, const char* mode) {
    ToyRun run;
    const auto root = run.builder().add_layer("Net");
    const auto body = run.builder().add_layer("Net/body", root);
    const auto head = run.builder().add_layer("Net/head", root);
    const auto first = run.builder().add_layer("Net/body/0", body);
    const auto second = run.builder().add_layer("Net/body/1", body);
    const auto parts = {std::pair{first, first_ns}, std::pair{first, std::int64_t{10}},
                        std::pair{second, std::int64_t{10}}, std::pair{second, std::int64_t{10}},
                        std::pair{head, head_ns}};
    for (const auto& [layer, ns] : parts) {
      ToyKernel kernel = forward;
      kernel.layer = layer;
      kernel.duration_ns = ns;
      run.kernel(kernel);
    }
    for (int i = 0; i < 5; ++i) run.kernel(backward);
    run.synchronize();
    return count_of(after(run.build(), activation_checkpointing, {{"mode", mode}}), forward.name);
  };
  CHECK(repeated(10, 10, "block") == repeated(400, 10, "block"));
  CHECK(repeated(10, 10, "block") == repeated(10, 400, "block"));
  CHECK(repeated(10, 10, "block") > 5);
}

TEST_CASE("activation_checkpointing: blocks are the repeated modules") {
  ToyRun run;
  const auto root = run.builder().add_layer("Net");
  const auto first = run.builder().add_layer("Net/Block_0", root);
  const auto second = run.builder().add_layer("Net/Block_1", root);
  for (const auto layer : {first, first, second, second}) {
    ToyKernel kernel = forward;
    kernel.layer = layer;
    run.kernel(kernel);
  }
  for (const auto layer : {second, first}) {
    ToyKernel kernel = backward;
    kernel.layer = layer;
    run.kernel(kernel);
  }
  run.synchronize();
  const auto graph = run.build();
  const auto again = after(graph, activation_checkpointing, {{"mode", "block"}});
  // Both blocks run again: four kernels of 10 ns.
  CHECK(span_ns(again) == span_ns(graph) + 40);
}

TEST_CASE("activation_checkpointing: selective repeats attention without its last product") {
  ToyRun run;
  const ToyKernel bmm = {.name = "gemm", .duration_ns = 30, .operator_name = "aten::bmm"};
  const ToyKernel softmax = {.name = "softmax_warp_forward", .duration_ns = 5};
  run.kernel(bmm);
  run.kernel(softmax);
  run.kernel(bmm);
  for (const auto& kernel : {bmm, bmm, softmax, bmm, bmm}) {
    ToyKernel twin = kernel;
    twin.phase = Phase::backward;
    run.kernel(twin);
  }
  run.synchronize();
  const auto graph = run.build();
  const auto again = after(graph, activation_checkpointing, {{"mode", "selective"}});
  CHECK(span_ns(again) == span_ns(graph) + 30 + 5);
}

TEST_CASE(
    "activation_checkpointing: one segment keeps everything, inference has nothing to repeat") {
  const auto one = apply_to(four_layers(), activation_checkpointing, {{"segments", "1"}});
  REQUIRE_MESSAGE(one.ok(), one.error().message);
  CHECK(one->empty());
  ToyRun run;
  run.kernel(forward);
  CHECK_FALSE(apply_to(run.build(), activation_checkpointing).ok());
  CHECK_FALSE(apply_to(four_layers(), activation_checkpointing, {{"mode", "block"}}).ok());
}

TEST_CASE("activation_checkpointing: what a part makes is gone until the part runs again") {
  ToyRun run;
  std::vector<foretrace::TaskId> calls;
  const auto add = [&](const ToyKernel& kernel) {
    calls.push_back(
        foretrace::make_id<foretrace::TaskId>(foretrace::index(run.kernel(kernel)) - 1));
  };
  for (int i = 0; i < 6; ++i) add(forward);
  for (int i = 0; i < 6; ++i) add(backward);
  // Forward i makes a map that backward 5 - i is the last to read.
  for (std::size_t i = 1; i < 6; ++i) {
    foretrace::Tensor map;
    map.bytes = 1 << 20;
    map.allocated_in = calls[i];
    map.freed_in = calls[12 - i];
    run.builder().add_tensor(map);
  }
  const auto graph = run.build();
  const auto change = apply_to(graph, activation_checkpointing, {{"segments", "2"}});
  REQUIRE_MESSAGE(change.ok(), change.error().message);
  // The first segment is {0, 1, 2}; the result of 2 enters the second one and is kept. Only the map
  // of 1 goes, when forward 3 is called, and comes back when 1 runs again.
  REQUIRE(change->tensors.size() == 1);
  CHECK(index(change->tensors[0].tensor) == 0);
  REQUIRE(change->new_tensors.size() == 2);
  CHECK(change->new_tensors[0].freed_in == calls[3]);
  CHECK(index(change->new_tensors[1].allocated_in) >= graph.size());
  CHECK(change->new_tensors[1].freed_in == calls[11]);
}

TEST_CASE("activation_checkpointing: the last result of a block is kept, whatever runs after it") {
  ToyRun run;
  const auto root = run.builder().add_layer("Net");
  const std::array blocks = {run.builder().add_layer("Net/Block_0", root),
                             run.builder().add_layer("Net/Block_1", root)};
  std::vector<foretrace::TaskId> calls;
  for (std::size_t i = 0; i < 12; ++i) {
    ToyKernel kernel = i < 6 ? forward : backward;
    kernel.layer = blocks[i < 3 || i >= 9 ? 0 : 1];
    calls.push_back(
        foretrace::make_id<foretrace::TaskId>(foretrace::index(run.kernel(kernel)) - 1));
  }
  // Forward 2, the last of its block, works in place on what 1 made.
  foretrace::Tensor map;
  map.bytes = 1 << 20;
  map.allocated_in = calls[1];
  map.freed_in = calls[11];
  run.builder().add_tensor(map);
  const auto graph = run.build();
  const auto change = apply_to(graph, activation_checkpointing, {{"mode", "block"}});
  REQUIRE_MESSAGE(change.ok(), change.error().message);
  CHECK(change->tensors.empty());
  CHECK(change->new_tensors.empty());
}

TEST_CASE("activation_checkpointing: selective forgets scores until they are computed again") {
  ToyRun run;
  const ToyKernel bmm = {.name = "gemm", .duration_ns = 30, .operator_name = "aten::bmm"};
  const ToyKernel softmax = {.name = "softmax_warp_forward", .duration_ns = 5};
  const auto side = run.add_stream(9);
  std::vector<foretrace::TaskId> calls;
  const auto add = [&](ToyKernel kernel, Phase phase) {
    kernel.phase = phase;
    const auto task = run.kernel(kernel);
    calls.push_back(foretrace::make_id<foretrace::TaskId>(foretrace::index(task) - 1));
    return task;
  };
  for (const auto& kernel : {bmm, softmax, bmm}) add(kernel, Phase::forward);
  const auto last = add(forward, Phase::forward);  // the next layer
  run.bystander(side, last, 7);
  for (const auto& kernel : {bmm, bmm, softmax, bmm, bmm}) add(kernel, Phase::backward);
  // Scores, weights and the result; the backward pass frees them.
  for (std::size_t i = 0; i < 3; ++i) {
    foretrace::Tensor map;
    map.bytes = 1 << 20;
    map.allocated_in = calls[i];
    map.freed_in = calls[8 - i];
    run.builder().add_tensor(map);
  }
  run.synchronize();
  const auto graph = run.build();
  const auto change = apply_to(graph, activation_checkpointing, {{"mode", "selective"}});
  REQUIRE_MESSAGE(change.ok(), change.error().message);
  // Scores and weights leave when the next layer is called; the result stays.
  REQUIRE(change->tensors.size() == 2);
  CHECK(index(change->tensors[0].tensor) == 0);
  CHECK(index(change->tensors[1].tensor) == 1);
  REQUIRE(change->new_tensors.size() == 4);
  CHECK(change->new_tensors[0].freed_in == calls[3]);
}
