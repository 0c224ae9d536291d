#include "tests/models/text_run.h"
#include "tests/models/training_job.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& optimizer_offload;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::optimizer_offload;

namespace {

constexpr std::int64_t mib = 1 << 20;

foretrace::TaskGraph one_step() {
  ToyRun run;
  run.kernel({.name = "forward", .duration_ns = 100000});
  for (int i = 0; i < 4; ++i) {
    run.kernel({.name = "backward", .duration_ns = 100000, .phase = Phase::backward});
  }
  run.kernel({.name = "multi_tensor_apply_kernel", .duration_ns = 50000, .phase = Phase::update});
  run.synchronize();
  return run.build();
}

}  // namespace

TEST_CASE("optimizer_offload: gradients leave, the CPU updates, parameters return") {
  // 1 million parameters in 4 bytes over 10 GB/s: 0.4 ms each way in 2 chunks; 30 bytes per
  // parameter at 100 GB/s: 0.3 ms of CPU time.
  const auto offloaded = after(one_step(), optimizer_offload,
                               {{"parameters", "1000000"},
                                {"bandwidth", "10 GB/s"},
                                {"host_bandwidth", "100 GB/s"},
                                {"chunks", "2"}});
  CHECK(count_of(offloaded, "multi_tensor_apply_kernel") == 0);
  CHECK(count_of(offloaded, "offload to host") == 2);
  CHECK(duration_of(offloaded, "offload to host") == 1800 + 200000);
  CHECK(count_of(offloaded, "optimizer update on the CPU") == 2);
  CHECK(duration_of(offloaded, "optimizer update on the CPU") == 150000);
  // Gradients leave from 300 us on, when half of the backward is done, until 703.6 us; the first
  // half is updated at 853.6 us, and both halves are back after two more copies.
  CHECK(span_ns(offloaded) == 300000 + 2 * 201800 + 150000 + 2 * 201800);
}

TEST_CASE("optimizer_offload: it says that the known memory never held the states that leave") {
  const auto tells = [](const char* operator_name, bool states) {
    ToyRun run;
    run.kernel({.name = "forward", .duration_ns = 100000});
    run.kernel({.name = "backward", .duration_ns = 100000, .phase = Phase::backward});
    run.kernel({.name = "multi_tensor_apply_kernel",
                .duration_ns = 50000,
                .operator_name = operator_name,
                .phase = Phase::update});
    using enum foretrace::TensorCategory;
    run.builder().add_tensor({.bytes = mib,
                              .category = states ? optimizer_state : weight,
                              .allocated_in = foretrace::TaskId{0}});
    const auto change = apply_to(run.build(), optimizer_offload, {{"parameters", "1000000"}});
    REQUIRE_MESSAGE(change.ok(), change.error().message);
    return change->notes.front().find("contains no optimizer states") != std::string::npos;
  };
  CHECK(tells("aten::_foreach_addcdiv_", false));
  CHECK_FALSE(tells("aten::_foreach_addcdiv_", true));
  CHECK_FALSE(tells("aten::_foreach_add_", false));  // plain SGD has none
}

TEST_CASE("optimizer_offload: the number of parameters must be known") {
  const auto unknown = apply_to(one_step(), optimizer_offload);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == ErrorCode::missing_cost);
}

TEST_CASE("optimizer_offload: declines without an update") {
  ToyRun run;
  run.kernel({.name = "forward", .duration_ns = 10});
  run.kernel({.name = "backward", .duration_ns = 10, .phase = Phase::backward});
  const auto declined = apply_to(run.build(), optimizer_offload, {{"parameters", "10"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}

TEST_CASE("optimizer_offload: the host waits for gradients that were seen behind later work") {
  // The gradient shares the device with work of another stream that is launched after the update.
  // Once the thread waits for the gradient, that work comes behind it.
  const auto run = foretrace::test::text_run(
      "h:l1(5000) s:gemm1(30000)<l1 h:l2(5000) h:u3(5000) h:l4(5000) s2:relu4(30000)<l4 "
      "s:dgemm2(30000)<l2<^relu4:capacity s:mul3(30000)<u3 h:end(0)~*");
  const auto offloaded =
      foretrace::test::after(run, optimizer_offload, {{"parameters", "1000000"}, {"chunks", "1"}});
  const auto timeline = foretrace::simulate(offloaded.graph);
  const auto end_ns = [&](const char* name) {
    return timeline.end_ns(foretrace::test::task(offloaded, name));
  };
  CHECK(end_ns("dgemm2") == 65000);  // right behind gemm1, 5 + 30 + 30 us
  CHECK(end_ns("relu4") > end_ns("optimizer_update_on_the_CPU"));
}

TEST_CASE(
    "optimizer_offload: sizes from recorded weights; where 16 bit travel, fp32 weights leave") {
  ToyRun run;
  run.kernel({.name = "forward", .duration_ns = 100000});
  run.kernel({.name = "backward", .duration_ns = 100000, .phase = Phase::backward});
  run.kernel({.name = "multi_tensor_apply_kernel", .duration_ns = 50000, .phase = Phase::update});
  run.synchronize();
  using foretrace::TensorCategory;
  for (const auto category : {TensorCategory::weight, TensorCategory::optimizer_state}) {
    run.builder().add_tensor({.bytes = 4 * mib, .device = 0, .category = category});
  }
  const auto graph = run.build();
  const auto whole = apply_to(graph, optimizer_offload);
  REQUIRE_MESSAGE(whole.ok(), whole.error().message);
  REQUIRE(whole->tensors.size() == 1);  // the states; weights stay in fp32
  CHECK(whole->tensors[0].bytes == 0);
  CHECK(whole->notes.front().find("1 update of 1.0 M parameters (by recorded weights; ") == 0);
  const auto half = apply_to(graph, optimizer_offload, {{"bytes", "2"}});
  REQUIRE(half.ok());
  REQUIRE(half->tensors.size() == 2);
  CHECK(half->tensors[0].bytes == 2 * mib);
  CHECK(half->tensors[1].bytes == 0);
}

TEST_CASE("optimizer_offload: every rank of a job updates on its own host") {
  const auto graph =
      foretrace::test::training_job({.steps = 2,
                                     .reduces = {{.bytes = 4'000'000, .ns = 1'000'000, .after = 6}},
                                     .update_name = "multi_tensor_apply_kernel"});
  const auto offloaded = after(graph, optimizer_offload, {{"chunks", "2"}});
  CHECK(count_of(offloaded, "multi_tensor_apply_kernel") == 0);
  CHECK(count_of(offloaded, "optimizer update on the CPU") == 2 * 2 * 2);
  std::map<std::pair<std::string_view, std::int32_t>, int> copies;  // by direction and device
  for (std::size_t i = 0; i < offloaded.size(); ++i) {
    const auto task = foretrace::make_id<foretrace::TaskId>(i);
    if (offloaded.kind(task) != foretrace::TaskKind::copy) continue;
    CHECK(offloaded.lane(task).rank == offloaded.lane(task).device);
    ++copies[{offloaded.name(task), offloaded.lane(task).device}];
  }
  REQUIRE(copies.size() == 4);
  for (const auto& [where, number] : copies) CHECK(number == 2 * 2);
  // The second forward pass of a rank waits for its parameters.
  const auto timeline = foretrace::simulate(offloaded);
  std::map<std::int32_t, std::int64_t> back;  // of the first step
  std::map<std::int32_t, int> seen;
  for (std::size_t i = 0; i < offloaded.size(); ++i) {
    const auto task = foretrace::make_id<foretrace::TaskId>(i);
    const std::int32_t rank = offloaded.lane(task).rank;
    if (offloaded.name(task) == "prefetch to device" && seen[rank] == 1) {
      back[rank] = timeline.end_ns(task);
    }
    if (offloaded.name(task) == "fwd" && ++seen[rank] == 2) {
      CHECK(timeline.start_ns(task) >= back.at(rank));
    }
  }
}

TEST_CASE("optimizer_offload: an update that ends inside the backward pass stays there") {
  const auto within = foretrace::test::training_job(
      {.update_name = "multi_tensor_apply_kernel", .updates_within = {2, 5}});
  const auto declined = apply_to(within, optimizer_offload, {{"parameters", "1000000"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
  // One that ends behind it goes as a whole.
  const auto behind = foretrace::test::training_job(
      {.update_name = "multi_tensor_apply_kernel", .updates_within = {2, 6}});
  const auto offloaded = after(behind, optimizer_offload, {{"parameters", "1000000"}});
  CHECK(count_of(offloaded, "multi_tensor_apply_kernel") == 0);
  CHECK(span_ns(offloaded) > 0);
}

TEST_CASE("optimizer_offload: weights shrink on the ranks that keep them in fp32") {
  // Two nodes with a device 0 each; rank 1 has 16-bit weights already.
  const auto graph = foretrace::test::training_job({.update_name = "multi_tensor_apply_kernel",
                                                    .nodes_of_one = true,
                                                    .weight_bytes = {4 << 20, 2 << 20}});
  const auto half = apply_to(graph, optimizer_offload, {{"bytes", "2"}});
  REQUIRE_MESSAGE(half.ok(), half.error().message);
  CHECK(half->notes.front().find("2 updates of 1.0 M parameters (by recorded weights; ") == 0);
  REQUIRE(half->tensors.size() == 1);
  CHECK(half->tensors[0].bytes == 2 << 20);
}

TEST_CASE(
    "optimizer_offload: of ranks that share the update, weights are fp32 by the whole model") {
  // 2^20 parameters; each of 8 ranks updates the share that its reduce-scatter leaves.
  const auto weights = [](std::int64_t bytes) {
    const auto graph = foretrace::test::training_job(
        {.ranks = 8,
         .reduces = {{4 * mib, 1'000'000, 6, foretrace::CollectiveKind::reduce_scatter,
                      foretrace::Precision::fp32}},
         .update_name = "multi_tensor_apply_kernel",
         .weight_bytes = {bytes}});
    const auto half = apply_to(graph, optimizer_offload, {{"bytes", "2"}});
    REQUIRE_MESSAGE(half.ok(), half.error().message);
    CHECK_MESSAGE(half->notes.front().find("8 updates of 0.1 M on each rank of 1.0 M parameters "
                                           "(by the gradients that ranks exchange") == 0,
                  half->notes.front());
    for (const auto& tensor : half->tensors) CHECK(tensor.bytes == bytes / 2);
    return half->tensors.size();
  };
  CHECK(weights(2 * mib) == 0);  // all in 16 bit on every rank
  CHECK(weights(4 * mib) == 8);  // all in fp32
  CHECK(weights(mib / 4) == 0);  // the rank's share, in 16 bit
  CHECK(weights(mib / 2) == 8);  // the rank's share, in fp32
}

TEST_CASE("optimizer_offload: a given number is the rank's share where ranks share the update") {
  const auto graph = foretrace::test::training_job(
      {.ranks = 8,
       .reduces = {{4 * mib, 1'000'000, 6, foretrace::CollectiveKind::reduce_scatter,
                    foretrace::Precision::fp32}},
       .update_name = "multi_tensor_apply_kernel",
       .weight_bytes = {2 * mib}});
  const auto half = apply_to(graph, optimizer_offload, {{"bytes", "2"}, {"parameters", "131072"}});
  REQUIRE_MESSAGE(half.ok(), half.error().message);
  CHECK(half->tensors.empty());
}
