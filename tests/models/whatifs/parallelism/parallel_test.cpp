#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/hardware/collectives/collective_costs.h"
#include "sim/graph/links.h"
#include "tests/configs.h"
#include "tests/models/toy_job.h"
#include "tests/models/toy_parts.h"
#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& layer_freezing;
extern const WhatIfInfo& parallel;
}  // namespace foretrace::what_ifs

using namespace foretrace;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::Given;
using foretrace::test::span_ns;
using foretrace::test::toy_accelerator;
using foretrace::test::toy_job;
using foretrace::test::ToyRun;
using foretrace::what_ifs::layer_freezing;
using foretrace::what_ifs::parallel;

namespace {

constexpr std::int64_t us = 1'000;

Cluster machine(const char* name) {
  auto found = find_cluster(*foretrace::test::shipped(), name);
  REQUIRE_MESSAGE(found.ok(), found.error().message);
  return *found;
}

std::int64_t time_on(const char* cluster, CollectiveKind kind, double bytes, std::uint32_t ranks) {
  const Cluster on = machine(cluster);
  return std::llround(collective_time(on, {kind, bytes, place(on, {ranks, 1})}).ns);
}

std::vector<TaskId> named(const TaskGraph& graph, std::string_view name) {
  std::vector<TaskId> tasks;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (graph.name(make_id<TaskId>(i)) == name) tasks.push_back(make_id<TaskId>(i));
  }
  return tasks;
}

/// Two layers of 1024 x 1024 and 1024 x 512, 1 ms forward and 2 ms backward each, and an update.
/// An event of a second stream holds up the first backward kernel.
TaskGraph training_step() {
  ToyRun run;
  const std::string gemm = "ampere_sgemm_128x64_tn";
  const std::string first = "[[1024],[64,1024],[1024,1024],[],[]]";
  const std::string second = "[[512],[64,1024],[1024,512],[],[]]";
  run.kernel({gemm, 1000 * us, "aten::addmm", first, Phase::forward});
  run.kernel({gemm, 1000 * us, "aten::addmm", second, Phase::forward});
  const LaneId main = run.stream();
  run.use_stream(
      run.builder().add_lane({.kind = LaneKind::stream, .device = 0, .number = 9, .name = {}}));
  const TaskId beside = run.kernel({.duration_ns = 3000 * us, .phase = Phase::data_loading});
  run.use_stream(main);
  const TaskId held =
      run.kernel({gemm, 2000 * us, "aten::mm", "[[64,512],[512,1024]]", Phase::backward});
  run.builder().add_dependency(
      {.source = end_of(beside), .task = held, .kind = DependencyKind::event_wait});
  run.kernel({gemm, 2000 * us, "aten::mm", "[[64,1024],[1024,1024]]", Phase::backward});
  run.kernel(
      {.name = "multi_tensor_apply_kernel<Adam>", .duration_ns = 500 * us, .phase = Phase::update});
  return run.build();
}

}  // namespace

TEST_CASE("parallel: gradients go when their bucket is full, and the update waits for all") {
  const Accelerator a100 = toy_accelerator();
  const TaskGraph graph =
      after(training_step(), parallel, {{"data", "8"}, {"cluster", "dgx_a100"}}, &a100);
  const std::vector<TaskId> reductions = named(graph, "all-reduce of gradients");
  // The head's gradients, bias first, fill the first bucket of 1 MiB with 2.1 MB; those of the
  // first layer are the second.
  REQUIRE(reductions.size() == 2);
  CHECK(graph.work(reductions[0]).bytes == (512 + 1024 * 512) * 4);
  CHECK(graph.work(reductions[1]).bytes == (1024 + 1024 * 1024) * 4);
  for (const TaskId task : reductions) {
    CHECK(graph.duration_ns(task) == time_on("dgx_a100", CollectiveKind::all_reduce,
                                             static_cast<double>(graph.work(task).bytes), 8));
    CHECK(graph.lane_id(task) != graph.lane_id(named(graph, "multi_tensor_apply_kernel<Adam>")[0]));
  }
  const Timeline timeline = simulate(graph);
  const TaskId update = named(graph, "multi_tensor_apply_kernel<Adam>")[0];
  CHECK(timeline.start_ns(update) >= timeline.end_ns(reductions[1]));
  // The first reduction runs beside the second backward kernel.
  const std::vector<TaskId> products = named(graph, "ampere_sgemm_128x64_tn");
  CHECK(timeline.start_ns(reductions[0]) < timeline.end_ns(products.back()));
  CHECK(timeline.start_ns(reductions[0]) >= timeline.end_ns(products[2]));
}

TEST_CASE("parallel: buckets that gradients live in need no copies") {
  const Accelerator a100 = toy_accelerator();
  const Given given = {{"data", "8"}, {"cluster", "dgx_a100"}, {"bucket_view", "true"}};
  const TaskGraph graph = after(training_step(), parallel, given, &a100);
  CHECK(named(graph, "copy gradient from its bucket").empty());
  CHECK(named(graph, "scale gradient into its bucket").empty());
  const Timeline timeline = simulate(graph);
  const TaskId update = named(graph, "multi_tensor_apply_kernel<Adam>")[0];
  for (const TaskId task : named(graph, "all-reduce of gradients")) {
    CHECK(timeline.start_ns(update) >= timeline.end_ns(task));
  }
}

TEST_CASE("parallel: sharded states are updated in parts, and parameters collected after it") {
  const Accelerator a100 = toy_accelerator();
  const Given given = {{"data", "8"}, {"cluster", "dgx_a100"}, {"zero", "1"}};
  const TaskGraph graph = after(training_step(), parallel, given, &a100);
  CHECK(named(graph, "all-reduce of gradients").empty());
  CHECK(named(graph, "reduce-scatter of gradients").size() == 2);
  const TaskId update = named(graph, "multi_tensor_apply_kernel<Adam>")[0];
  CHECK(graph.duration_ns(update) < 500 * us / 7);
  const std::vector<TaskId> gathers = named(graph, "all-gather of parameters");
  REQUIRE(gathers.size() == 1);
  CHECK(simulate(graph).start_ns(gathers[0]) >= simulate(graph).end_ns(update));
}

namespace {

/// Three layers of 1024 x 1024 with modules of their own on two streams' worth of waits: 1 ms
/// forward and 2 ms backward each; a second stream waits for the first backward kernel.
TaskGraph three_modules() {
  ToyRun run;
  const std::string gemm = "ampere_sgemm_128x64_tn";
  const LayerId model = run.builder().add_layer("Model");
  std::vector<LayerId> layers;
  for (const char* name : {"Model/0", "Model/1", "Model/2"}) {
    layers.push_back(run.builder().add_layer(name, model));
  }
  for (const LayerId layer : layers) {
    run.kernel({.name = gemm,
                .duration_ns = 1000 * us,
                .operator_name = "aten::mm",
                .shapes = "[[64,1024],[1024,1024]]",
                .layer = layer});
  }
  const LaneId beside = run.add_stream(9);
  for (std::size_t i = layers.size(); i-- > 0;) {
    const TaskId kernel = run.kernel({.name = gemm,
                                      .duration_ns = 2000 * us,
                                      .operator_name = "aten::mm",
                                      .shapes = "[[64,1024],[1024,1024]]",
                                      .phase = Phase::backward,
                                      .layer = layers[i]});
    if (i != 2) continue;
    const LaneId main = run.stream();
    run.use_stream(beside);
    run.wait_for(run.kernel({.name = "bystander", .duration_ns = 100, .phase = Phase::unknown}),
                 kernel);
    run.use_stream(main);
  }
  run.kernel(
      {.name = "multi_tensor_apply_kernel<Adam>", .duration_ns = 800 * us, .phase = Phase::update});
  return run.build();
}

}  // namespace

TEST_CASE("parallel: sharded parameters are collected before each layer and scattered behind it") {
  const Accelerator a100 = toy_accelerator();
  const Given given = {{"data", "8"}, {"cluster", "dgx_a100"}, {"zero", "3"}};
  const TaskGraph graph = after(three_modules(), parallel, given, &a100);
  const std::vector<TaskId> gathers = named(graph, "all-gather of parameters");
  const std::vector<TaskId> scatters = named(graph, "reduce-scatter of gradients");
  // Forward all three; backward all but the last, which stays.
  REQUIRE(gathers.size() == 5);
  REQUIRE(scatters.size() == 3);
  for (const TaskId task : gathers) {
    CHECK(graph.work(task).bytes == 1024 * 1024 * 4);
    CHECK(graph.duration_ns(task) ==
          time_on("dgx_a100", CollectiveKind::all_gather, 1024 * 1024 * 4, 8));
    CHECK(graph.lane_id(task) == graph.lane_id(scatters[0]));  // one communicator keeps order
  }
  const Timeline timeline = simulate(graph);
  const std::vector<TaskId> products = named(graph, "ampere_sgemm_128x64_tn");
  REQUIRE(products.size() == 6);
  const auto begins = [&](TaskId task) { return timeline.start_ns(task); };
  const auto ends = [&](TaskId task) { return timeline.end_ns(task); };
  for (std::size_t i = 0; i < 3; ++i) CHECK(begins(products[i]) >= ends(gathers[i]));
  // Collected one ahead, beside the layer that runs.
  CHECK(begins(gathers[1]) < ends(products[0]));
  CHECK(begins(gathers[3]) < ends(products[3]));
  CHECK(begins(products[4]) >= ends(gathers[3]));
  CHECK(begins(products[5]) >= ends(gathers[4]));
  // Each reduction behind its layer; the update waits for the last and takes an eighth.
  for (std::size_t i = 0; i < 3; ++i) CHECK(begins(scatters[i]) >= ends(products[3 + i]));
  const TaskId update = named(graph, "multi_tensor_apply_kernel<Adam>")[0];
  CHECK(begins(update) >= ends(scatters[2]));
  CHECK(graph.duration_ns(update) < 800 * us / 7);
  // The second stream still waits for the kernel that it waited for.
  CHECK(begins(named(graph, "bystander")[0]) >= ends(products[3]));
}

TEST_CASE("parallel: frozen parameters are collected with a neighbour, and have no gradients") {
  const Accelerator a100 = toy_accelerator();
  const TaskGraph frozen = after(three_modules(), layer_freezing, {{"share", "0.34"}}, &a100);
  const TaskGraph graph =
      after(frozen, parallel, {{"data", "8"}, {"cluster", "dgx_a100"}, {"zero", "3"}}, &a100);
  const auto bytes = [&](const char* name) {
    std::vector<std::int64_t> all;
    for (const TaskId task : named(graph, name)) all.push_back(graph.work(task).bytes);
    return all;
  };
  const std::int64_t layer = 1024 * 1024 * 4;
  // Forward both units, backward only the first: no backward kernel undoes what is frozen.
  CHECK(bytes("all-gather of parameters") ==
        std::vector<std::int64_t>{2 * layer, layer, 2 * layer});
  CHECK(bytes("reduce-scatter of gradients") == std::vector<std::int64_t>{layer, layer});
}

TEST_CASE("parallel: groups of shards wait for each other's sums before the update") {
  const Accelerator a100 = toy_accelerator();
  const TaskGraph graph =
      after(three_modules(), parallel,
            {{"data", "32"}, {"cluster", "dgx_a100"}, {"zero", "3"}, {"shard_size", "8"}}, &a100);
  const std::vector<TaskId> scatters = named(graph, "reduce-scatter of gradients");
  const std::vector<TaskId> sums = named(graph, "all-reduce of gradients");
  REQUIRE(scatters.size() == 3);
  REQUIRE(sums.size() == 3);
  const Timeline timeline = simulate(graph);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(timeline.start_ns(sums[i]) >= timeline.end_ns(scatters[i]));
    CHECK(graph.work(sums[i]).bytes == 1024 * 1024 * 4 / 8);
  }
  const TaskId update = named(graph, "multi_tensor_apply_kernel<Adam>")[0];
  CHECK(timeline.start_ns(update) >= timeline.end_ns(sums[2]));
  CHECK(graph.duration_ns(update) > 800 * us / 9);  // an eighth, not a 32nd
}

TEST_CASE("parallel: sharded parameters need layers, found by weights or given by the user") {
  const Accelerator a100 = toy_accelerator();
  const Given given = {{"data", "8"}, {"cluster", "dgx_a100"}, {"zero", "3"}};
  const std::vector<TaskId> found =
      named(after(training_step(), parallel, given, &a100), "all-gather of parameters");
  CHECK(found.size() == 3);
  Given with_layers = given;
  with_layers.emplace_back("layers", "2");
  const TaskGraph graph = after(training_step(), parallel, with_layers, &a100);
  const std::vector<TaskId> gathers = named(graph, "all-gather of parameters");
  REQUIRE(gathers.size() == 3);
  CHECK(graph.work(gathers[0]).bytes == (1024 + 1024 * 1024) * 4);
  CHECK(graph.work(gathers[1]).bytes == (512 + 1024 * 512) * 4);
  with_layers.back().second = "3";
  CHECK_FALSE(apply_to(training_step(), parallel, with_layers, &a100).ok());
}

TEST_CASE("parallel: more ranks never make the toy step shorter, and one rank changes nothing") {
  const Accelerator a100 = toy_accelerator();
  std::int64_t last = span_ns(training_step());
  for (const char* ranks : {"2", "8", "16", "64", "512"}) {
    const std::int64_t now = span_ns(
        after(training_step(), parallel, {{"data", ranks}, {"cluster", "dgx_a100"}}, &a100));
    CHECK(now >= last);
    last = now;
  }
  const TaskGraph step = training_step();
  const auto one = apply_to(step, parallel, {{"data", "1"}, {"cluster", "dgx_a100"}});
  REQUIRE(one.ok());
  CHECK(one->tasks_changed(step) == 0);
}

TEST_CASE("parallel: recorded groups take the machine's time on every rank") {
  const TaskGraph job = toy_job(
      {.before = {100 * us, 300 * us}, .transfer = 9000 * us, .after = 50 * us, .bytes = 16 << 20});
  const std::int64_t transfer = time_on("dgx_a100", CollectiveKind::all_reduce, 16 << 20, 2);
  const TaskGraph graph = after(job, parallel, {{"recorded", "true"}, {"cluster", "dgx_a100"}});
  CHECK(span_ns(graph) == (300 + 50) * us + transfer);
  // The same job on 64 ranks: what was measured, and what the network takes more.
  const std::int64_t of_64 = time_on("dgx_a100", CollectiveKind::all_reduce, 16 << 20, 64);
  CHECK(span_ns(after(job, parallel, {{"data", "64"}, {"cluster", "dgx_a100"}})) ==
        (300 + 50) * us + 9000 * us + of_64 - transfer);
}

TEST_CASE(
    "parallel: as many copies as recorded change nothing, and growth is undone by shrinking") {
  const auto durations = [](const TaskGraph& graph) {
    std::vector<std::int64_t> all;
    for (std::size_t t = 0; t < graph.size(); ++t) {
      all.push_back(graph.duration_ns(make_id<TaskId>(t)));
    }
    return all;
  };
  const auto copies = [](const TaskGraph& graph, int count) {
    return after(graph, parallel, {{"data", std::to_string(count)}, {"cluster", "dgx_a100"}});
  };
  std::mt19937 random(7);
  std::vector<TaskGraph> jobs = {foretrace::test::tensor_parallel(true)};
  for (int draw = 0; draw < 20; ++draw) {
    // From far faster than the machine's to mostly waiting.
    jobs.push_back(toy_job({.before = {100 * us, 300 * us},
                            .transfer = static_cast<std::int64_t>(1000 + random() % 20'000'000),
                            .after = 50 * us,
                            .bytes = static_cast<std::int64_t>(1 + random() % (64 << 20))}));
  }
  for (const TaskGraph& job : jobs) {
    CHECK(durations(copies(job, 2)) == durations(job));
    for (const int count : {4, 16}) {
      CAPTURE(count);
      const TaskGraph grown = copies(job, count);
      CHECK(span_ns(grown) > span_ns(job));
      const auto returned = durations(copies(grown, 2));
      const auto recorded = durations(job);
      for (std::size_t t = 0; t < recorded.size(); ++t) {
        CHECK(std::abs(returned[t] - recorded[t]) <= 2);  // rounding
      }
    }
  }
}

TEST_CASE("parallel: collectives of unknown size keep their waiting where the groups grow") {
  // Two steps of one rank of 2: an all-reduce of unknown size, 9 ms and then 1 ms with less
  // waiting.
  const auto job = [](std::int64_t second_bytes) {
    ToyRun run;
    const auto own = run.stream();
    const auto network = run.add_stream(9);
    for (const std::int64_t ns : {9'000'000, 1'000'000}) {
      run.kernel({.name = "fwd", .duration_ns = 1'000'000});
      const auto made =
          run.kernel({.name = "bwd", .duration_ns = 1'000'000, .phase = Phase::backward});
      run.use_stream(network);
      for (const std::int64_t bytes : {std::int64_t{-1}, second_bytes}) {
        const auto reduced = run.kernel({.name = "ncclDevKernel_AllReduce",
                                         .duration_ns = bytes < 0 ? ns : 10'000'000,
                                         .phase = Phase::communication,
                                         .kind = TaskKind::collective,
                                         .collective = CollectiveKind::all_reduce,
                                         .communicator = 0,
                                         .bytes = bytes});
        run.wait_for(reduced, made);
      }
      run.use_stream(own);
    }
    run.builder().add_communicator({"world", 2, {0}});
    return run.build();
  };
  const Given of_8 = {{"data", "8"}, {"cluster", "dgx_a100"}};
  // Nothing tells what more ranks would cost: samples that grow as the ranks do are no answer.
  const auto refused = apply_to(job(-1), parallel, of_8);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::missing_cost);
  CHECK(refused.error().message.find("unknown sizes of all 4 collectives") != std::string::npos);
  // Of two all-reduces one tells its size; the other keeps 9 and 1 ms.
  const TaskGraph graph = job(16 << 20);
  const auto known = [](std::uint32_t ranks) {
    return time_on("dgx_a100", CollectiveKind::all_reduce, 16 << 20, ranks);
  };
  const auto grown = apply_to(graph, parallel, of_8);
  REQUIRE_MESSAGE(grown.ok(), grown.error().message);
  CHECK(grown->notes[0].find("2 whose size is not recorded keep their time") != std::string::npos);
  const TaskGraph after_growth = after(graph, parallel, of_8);
  std::int64_t sum = 0;
  for (const TaskId task : named(after_growth, "ncclDevKernel_AllReduce")) {
    sum += after_growth.duration_ns(task);
  }
  CHECK(sum == 9'000'000 + 1'000'000 + 2 * (10'000'000 + known(8) - known(2)));
}

TEST_CASE("parallel: copies of groups that share layers grow beside them") {
  const TaskGraph graph = foretrace::test::tensor_parallel(true);
  const TaskGraph grown = after(graph, parallel, {{"data", "16"}, {"cluster", "dgx_a100"}});
  const auto reduced = named(grown, "ncclDevKernel_AllReduce");
  REQUIRE(reduced.size() == 3);
  for (const std::size_t layer : {0U, 1U}) CHECK(grown.duration_ns(reduced[layer]) == 300'000);
  CHECK(grown.duration_ns(reduced[2]) > 300'000);
  const auto& groups = grown.context().communicators;
  CHECK(groups[grown.work(reduced[0]).communicator].size == 4);
  CHECK(groups[grown.work(reduced[2]).communicator].size == 16);
}

TEST_CASE("parallel: groups whose ranks hold parts of a layer do not grow, and keep their ranks") {
  const TaskGraph graph = foretrace::test::tensor_parallel(false);
  const auto grown = apply_to(graph, parallel, {{"data", "16"}, {"cluster", "dgx_a100"}});
  REQUIRE_FALSE(grown.ok());
  CHECK(grown.error().message.find("no communicator can grow: parts") != std::string::npos);
  CHECK(apply_to(graph, parallel, {{"recorded", "true"}, {"cluster", "dgx_a100"}}).ok());
}

TEST_CASE("parallel: refuses what a machine does not have and what a trace does not tell") {
  const auto error_of = [](const TaskGraph& graph, const Given& given) {
    const auto change = apply_to(graph, parallel, given);
    REQUIRE_FALSE(change.ok());
    return change.error().message;
  };
  CHECK(error_of(training_step(), {{"data", "64"}}).find("cluster=NAME") != std::string::npos);
  CHECK(error_of(training_step(), {{"data", "2000"}, {"cluster", "dgx_a100"}}) ==
        "got 2000 ranks, expected at most the 1120 accelerators of 'dgx_a100' "
        "(add :nodes=250 to its name for more)");
  ToyRun inference;
  inference.kernel({.duration_ns = 10, .phase = Phase::forward});
  CHECK(error_of(inference.build(), {{"data", "8"}, {"cluster", "dgx_a100"}})
            .find("expected a training step") != std::string::npos);
  ToyRun shapeless;
  shapeless.kernel({.duration_ns = 10, .phase = Phase::forward});
  shapeless.kernel({.duration_ns = 10, .phase = Phase::backward});
  const TaskGraph graph = shapeless.build();
  CHECK(error_of(graph, {{"data", "8"}, {"cluster", "dgx_a100"}}).find("parameters=N") !=
        std::string::npos);
  const Accelerator a100 = toy_accelerator();
  const TaskGraph given = after(
      graph, parallel, {{"data", "8"}, {"cluster", "dgx_a100"}, {"parameters", "1e6"}}, &a100);
  CHECK_FALSE(named(given, "all-reduce of gradients").empty());
}

namespace {

/// A product of this weight, its gradient, and an update if asked for.
TaskGraph small_pass(const std::string& forward, bool update) {
  ToyRun run;
  run.kernel({"ampere_sgemm_128x64_tn", 1000 * us, "aten::addmm", forward, Phase::forward});
  run.kernel(
      {"ampere_sgemm_128x64_tn", 2000 * us, "aten::mm", "[[64,64],[64,64]]", Phase::backward});
  if (update) {
    run.kernel({.name = "multi_tensor_apply_kernel<Adam>",
                .duration_ns = 500 * us,
                .phase = Phase::update});
  }
  return run.build();
}

}  // namespace

TEST_CASE("parallel: a layer under test, which nothing updates, has no gradients to exchange") {
  const Accelerator a100 = toy_accelerator();
  const Given eight = {{"data", "8"}, {"cluster", "dgx_a100"}};
  const std::string small = "[[64],[64,64],[64,64],[],[]]";
  const auto refused = apply_to(small_pass(small, false), parallel, eight, &a100);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::no_match);
  CHECK(refused.error().message.starts_with("no gradients to exchange: no update was recorded"));
  CHECK(apply_to(small_pass(small, true), parallel, eight, &a100).ok());
  CHECK(apply_to(small_pass("[[1024],[64,1024],[1024,1024],[],[]]", false), parallel, eight, &a100)
            .ok());
}

TEST_CASE("parallel: tensors are told without the buffers, and recorded ones only by that name") {
  const Accelerator a100 = toy_accelerator();
  for (const bool recorded : {true, false}) {
    CAPTURE(recorded);
    ToyRun run;
    run.kernel({"ampere_sgemm_128x64_tn", 1000 * us, "aten::addmm",
                "[[1024],[64,1024],[1024,1024],[],[]]", Phase::forward});
    run.kernel({"ampere_sgemm_128x64_tn", 2000 * us, "aten::mm", "[[64,1024],[1024,1024]]",
                Phase::backward});
    const TaskId update = run.kernel({.name = "multi_tensor_apply_kernel<Adam>",
                                      .duration_ns = 500 * us,
                                      .phase = Phase::update});
    Tensor state;
    state.bytes = 8 << 20;
    state.category = TensorCategory::optimizer_state;
    state.allocated_in = make_id<TaskId>(index(update) - 1);
    state.provenance = recorded ? Provenance::measured : Provenance::assumed;
    run.builder().add_tensor(state);
    const auto change = apply_to(run.build(), parallel,
                                 {{"data", "8"}, {"zero", "1"}, {"cluster", "dgx_a100"}}, &a100);
    REQUIRE(change.ok());
    std::string notes;
    for (const std::string& note : change->notes) notes += note;
    CAPTURE(notes);
    CHECK((notes.find("; 1 tensor 8.0 MiB -> 1.0 MiB") != std::string::npos) == !recorded);
    CHECK((notes.find("1 recorded tensor 8.0 MiB -> 1.0 MiB") != std::string::npos) == recorded);
    CHECK(notes.find("buffers occupy") != std::string::npos);
  }
}
