#include <algorithm>
#include <cmath>

#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& mu_two;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::TaskId;
using foretrace::TensorCategory;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::mu_two;

namespace {

foretrace::TaskGraph one_step(std::int64_t unit = 1) {
  ToyRun run;
  run.kernel({.name = "forward", .duration_ns = 10 * unit, .launch_ns = 2});
  run.kernel(
      {.name = "backward", .duration_ns = 20 * unit, .phase = Phase::backward, .launch_ns = 2});
  run.kernel({.name = "update", .duration_ns = 5 * unit, .phase = Phase::update, .launch_ns = 2});
  run.synchronize();
  return run.build();
}

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

// Steps with a weight that is there throughout and a map from forward to backward.
foretrace::TaskGraph with_tensors(int steps) {
  ToyRun run;
  foretrace::Tensor weight;
  weight.bytes = 1 << 20;
  weight.category = TensorCategory::weight;
  run.builder().add_tensor(weight);
  // Calls stand right before their kernels.
  const auto call_of = [](TaskId kernel) {
    return foretrace::make_id<TaskId>(foretrace::index(kernel) - 1);
  };
  for (int i = 0; i < steps; ++i) {
    const auto made = run.kernel({.name = "conv", .duration_ns = 100});
    run.kernel({.name = "relu", .duration_ns = 100});
    run.kernel({.name = "dgrad", .duration_ns = 100, .phase = Phase::backward});
    run.kernel({.name = "wgrad", .duration_ns = 100, .phase = Phase::backward});
    const auto next = run.kernel({.name = "last", .duration_ns = 100, .phase = Phase::backward});
    foretrace::Tensor map;
    map.bytes = 8 << 20;
    map.category = TensorCategory::activation;
    map.allocated_in = call_of(made);
    map.freed_in = call_of(next);
    run.builder().add_tensor(map);
  }
  return run.build();
}

}  // namespace

TEST_CASE("mu_two: forward of one model beside backward of the other, then the reverse") {
  const auto graph = one_step();
  REQUIRE(span_ns(graph) == 2 + 10 + 20 + 5);
  const auto two = after(graph, mu_two, {{"models", "2"}, {"conflict", "0.5"}});
  CHECK(count_of(two, "forward") == 2);
  CHECK(count_of(two, "backward") == 2);
  CHECK(count_of(two, "update") == 2);
  // Twice 20 + 0.5 x 10, and two updates.
  CHECK(span_ns(two) == 2 + 25 + 25 + 2 * 5);
  // Beside each other for nothing, and in turns.
  CHECK(span_ns(after(graph, mu_two, {{"models", "2"}, {"conflict", "0"}})) == 2 + 2 * 20 + 2 * 5);
  CHECK(span_ns(after(graph, mu_two, {{"models", "2"}, {"conflict", "1.7"}})) ==
        2 + 2 * 30 + 2 * 5);
}

TEST_CASE("mu_two: the launches of the second model are added") {
  ToyRun run;
  run.kernel({.name = "forward", .duration_ns = 1, .launch_ns = 100});
  run.kernel({.name = "backward", .duration_ns = 1, .phase = Phase::backward, .launch_ns = 100});
  const auto graph = run.build();
  REQUIRE(span_ns(graph) == 201);
  // Four calls instead of two, and the last kernel.
  CHECK(span_ns(after(graph, mu_two, {{"models", "2"}, {"conflict", "0"}})) == 401);
}

TEST_CASE("mu_two: models of one sub-array share launches, and the ramp-up of kernels") {
  const auto graph = one_step(1000);
  const auto four = after(graph, mu_two, {{"models", "4"}, {"conflict", "1"}});
  CHECK(count_of(four, "forward") == 2);
  // Of each kernel 1.8 us are ramp-up: 2 x 10 - 1.8, 2 x 20 - 1.8 and 2 x 5 - 1.8 us, all twice.
  CHECK(span_ns(four) == 2 + 2 * (18200 + 38200 + 8200));
}

TEST_CASE("mu_two: one model changes nothing, three are two and one") {
  const auto graph = one_step();
  const auto one = apply_to(graph, mu_two, {{"models", "1"}});
  REQUIRE(one.ok());
  CHECK(one->empty());
  const auto three = apply_to(graph, mu_two, {{"models", "3"}});
  REQUIRE(three.ok());
  CHECK(three->notes.front().find("3 models, 2 and 1 at once") == 0);
}

TEST_CASE("mu_two: swapped activations of both sub-arrays cross the link") {
  const auto all = after(two_layers(), mu_two, {{"models", "2"}, {"swap", "1"}});
  CHECK(count_of(all, "offload to host") == 4);
  CHECK(count_of(all, "prefetch to device") == 4);
  const auto half = after(two_layers(), mu_two, {{"models", "2"}, {"swap", "0.5"}});
  CHECK(count_of(half, "offload to host") == 2);
  CHECK(count_of(after(two_layers(), mu_two, {{"models", "2"}}), "offload to host") == 0);
  // Two models per sub-array: twice the bytes, and 1.8 us to set up.
  const auto four = after(two_layers(), mu_two, {{"models", "4"}, {"swap", "1"}});
  CHECK(duration_of(four, "offload to host") == 1800 + std::llround(2 * map_bytes / 12.6));
}

TEST_CASE("mu_two: copies hide behind kernels if the link is fast enough") {
  const auto stays = span_ns(after(two_layers(), mu_two, {{"models", "2"}}));
  const auto swapped = [](const char* bandwidth) {
    return span_ns(
        after(two_layers(), mu_two, {{"models", "2"}, {"swap", "1"}, {"bandwidth", bandwidth}}));
  };
  CHECK(swapped("1000 GB/s") - stays < 4 * 4000);
  CHECK(swapped("1 GB/s") > 4 * 12288000);
}

TEST_CASE("mu_two: weights of all models, activations of the second half a step later") {
  const auto graph = with_tensors(2);
  const auto change = apply_to(graph, mu_two, {{"models", "2"}});
  REQUIRE_MESSAGE(change.ok(), change.error().message);
  REQUIRE(change->tensors.size() == 1);
  CHECK(change->tensors[0].bytes == 2 << 20);
  // Before the window, from the first to the second step, and beyond.
  const auto& added = change->new_tensors;
  REQUIRE(added.size() == 3);
  CHECK(added[0].allocated_in == foretrace::none<TaskId>);
  CHECK(added[1].allocated_in != foretrace::none<TaskId>);
  CHECK(added[1].freed_in != foretrace::none<TaskId>);
  CHECK(added[2].freed_in == foretrace::none<TaskId>);
  for (const auto& tensor : added) CHECK(tensor.bytes == 8 << 20);
  CHECK(added[0].freed_in < added[1].allocated_in);
}

TEST_CASE("mu_two: a swapped activation is on the device around its use only") {
  const auto graph = with_tensors(1);
  const auto change = apply_to(graph, mu_two, {{"models", "2"}, {"swap", "1"}});
  REQUIRE_MESSAGE(change.ok(), change.error().message);
  REQUIRE(change->tensors.size() == 2);
  const auto dropped = std::count_if(change->tensors.begin(), change->tensors.end(),
                                     [](const auto& edit) { return edit.bytes == 0; });
  CHECK(dropped == 1);
  // Two parts of each model's map, none of which is there throughout.
  REQUIRE(change->new_tensors.size() == 4);
  for (const auto& tensor : change->new_tensors) {
    CHECK(tensor.allocated_in != foretrace::none<TaskId>);
    CHECK(tensor.freed_in != foretrace::none<TaskId>);
  }
}

TEST_CASE("mu_two: declines without a backward pass") {
  ToyRun run;
  run.kernel({.name = "forward", .duration_ns = 10});
  const auto declined = apply_to(run.build(), mu_two, {{"models", "2"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}
