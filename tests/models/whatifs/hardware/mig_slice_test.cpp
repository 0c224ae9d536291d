#include <cmath>
#include <string>

#include <re2/re2.h>

#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& mig_slice;
}

using foretrace::TaskGraph;
using foretrace::TaskKind;
using foretrace::TaskSpec;
using foretrace::Work;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::toy_accelerator;
using foretrace::what_ifs::mig_slice;

namespace {

// Products of `blocks` thread blocks, one behind the other, and a kernel of another stream that
// waits for the last of them.
TaskGraph products(std::int32_t few, std::int32_t many) {
  foretrace::GraphBuilder builder;
  const auto host = builder.add_lane({.kind = foretrace::LaneKind::host_thread, .number = 1});
  const auto stream =
      builder.add_lane({.kind = foretrace::LaneKind::stream, .device = 0, .number = 7});
  const auto side =
      builder.add_lane({.kind = foretrace::LaneKind::stream, .device = 0, .number = 8});
  const auto add = [&](std::string_view name, std::int32_t blocks, foretrace::LaneId lane) {
    Work call;
    call.name = builder.add_name("cudaLaunchKernel");
    call.kind = TaskKind::launch;
    TaskSpec launch;
    launch.lane = host;
    launch.work = builder.add_work(call);
    launch.kind = TaskKind::launch;
    launch.duration_ns = 2000;
    const auto from = builder.add_task(launch);
    Work work;
    work.name = builder.add_name(name);
    work.operator_name = builder.add_name("aten::mm");
    work.shapes = builder.add_name("[[8192, 8192], [8192, 8192]]");
    work.kind = TaskKind::kernel;
    work.grid = {blocks, 1, 1};
    TaskSpec kernel;
    kernel.lane = lane;
    kernel.work = builder.add_work(work);
    kernel.kind = TaskKind::kernel;
    kernel.duration_ns = 5'000'000;
    const auto task = builder.add_task(kernel);
    builder.add_dependency({.source = foretrace::end_of(from),
                            .task = task,
                            .kind = foretrace::DependencyKind::launch});
    return task;
  };
  add("few_fp16_s16816gemm_fp16_256x128", few, stream);
  const auto last = add("many_fp16_s16816gemm_fp16_256x128", many, stream);
  const auto waits = add("side_fp16_s16816gemm_fp16_256x128", many, side);
  builder.add_dependency({.source = foretrace::end_of(last),
                          .task = waits,
                          .kind = foretrace::DependencyKind::event_wait});
  auto graph = std::move(builder).build();
  REQUIRE(graph.ok());
  return *std::move(graph);
}

}  // namespace

TEST_CASE("mig_slice: products of many blocks lose arithmetic, those that fit the slice do not") {
  const auto a100 = toy_accelerator();
  // 43 % of 108 multiprocessors are 46.
  const auto slice =
      after(products(46, 4096), mig_slice, {{"compute", "0.43"}, {"memory", "0.5"}}, &a100);
  CHECK(duration_of(slice, "few_fp16_s16816gemm_fp16_256x128") == 5'000'000);
  CHECK(duration_of(slice, "many_fp16_s16816gemm_fp16_256x128") ==
        doctest::Approx(5e6 / 0.43).epsilon(0.03));
  // What waits on another stream follows: all three one after the other.
  CHECK(foretrace::test::span_ns(slice) >
        duration_of(slice, "few_fp16_s16816gemm_fp16_256x128") +
            2 * duration_of(slice, "many_fp16_s16816gemm_fp16_256x128"));
}

TEST_CASE("mig_slice: all of the device changes nothing, an unknown device is refused") {
  const auto a100 = toy_accelerator();
  const auto whole = apply_to(products(46, 4096), mig_slice, {{"compute", "1"}}, &a100);
  REQUIRE_MESSAGE(whole.ok(), whole.error().message);
  CHECK(whole->empty());
  CHECK_FALSE(apply_to(products(46, 4096), mig_slice, {{"compute", "0.5"}}).ok());
}

TEST_CASE("mig_slice: what the slice has no memory for does not fit") {
  const auto a100 = toy_accelerator();  // 40 GiB
  foretrace::test::ToyRun run;
  const auto first = run.kernel({.name = "many_fp16_s16816gemm_fp16_256x128",
                                 .duration_ns = 5'000'000,
                                 .operator_name = "aten::mm",
                                 .shapes = "[[8192, 8192], [8192, 8192]]"});
  run.bystander(run.add_stream(9), first, 100);
  const auto last = run.host_task("cudaFree", TaskKind::host, 10, 0);
  constexpr std::int64_t gib = std::int64_t{1} << 30;
  // 8 GiB of weights throughout, and 8 GiB more for a while.
  run.builder().add_tensor({.bytes = 8 * gib});
  run.builder().add_tensor(
      {.bytes = 8 * gib, .allocated_in = foretrace::TaskId{0}, .freed_in = last});
  const TaskGraph graph = run.build();
  const auto half = apply_to(graph, mig_slice, {{"compute", "0.43"}, {"memory", "0.5"}}, &a100);
  REQUIRE_MESSAGE(half.ok(), half.error().message);
  CHECK(half->notes[0].find("the run needs at least 16.0") != std::string::npos);
  const auto quarter = apply_to(graph, mig_slice, {{"compute", "0.28"}, {"memory", "0.25"}}, &a100);
  REQUIRE_FALSE(quarter.ok());
  CHECK(quarter.error().code == foretrace::ErrorCode::no_match);
  CHECK(quarter.error().message ==
        "does not fit: needs at least 16.0 GiB, the slice has 10.0 of 40.0 GiB");
}

TEST_CASE("mig_slice: the slice has the nearest number of multiprocessors") {
  auto device = toy_accelerator();
  REQUIRE(device.multiprocessors == 108);
  // 45.8 of 108 are 46, so the product of 46 blocks keeps its arithmetic.
  const auto slice = apply_to(products(46, 4096), mig_slice, {{"compute", "0.424"}}, &device);
  REQUIRE_MESSAGE(slice.ok(), slice.error().message);
  CHECK(slice->notes[0].find("46 of 108 multiprocessors") == 0);
  const auto changed =
      after(products(46, 4096), mig_slice, {{"compute", "0.424"}, {"memory", "1"}}, &device);
  CHECK(duration_of(changed, "few_fp16_s16816gemm_fp16_256x128") == 5'000'000);
}

TEST_CASE("mig_slice: the shares that its help advises give the multiprocessors that it says") {
  const RE2 advice(R"(([0-9.]+) (?:for|of) [^()]*\(([0-9]+) of ([0-9]+)\))");
  re2::StringPiece doc(mig_slice.params[0].doc);
  REQUIRE(mig_slice.params[0].name == "compute");
  int advised = 0;
  std::string share;
  std::string has;
  std::string of;
  while (RE2::FindAndConsume(&doc, advice, &share, &has, &of)) {
    auto device = toy_accelerator();
    device.multiprocessors = std::stoi(of);
    const auto slice = apply_to(products(20, 4096), mig_slice, {{"compute", share}}, &device);
    REQUIRE_MESSAGE(slice.ok(), slice.error().message);
    const std::string says = has + " of " + of + " multiprocessors";
    CHECK_MESSAGE(slice->notes[0].find(says) == 0, slice->notes[0]);
    ++advised;
  }
  CHECK(advised == 2);
}
