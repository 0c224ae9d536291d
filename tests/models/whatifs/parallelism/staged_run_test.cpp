#include "models/whatifs/parallelism/staged_run.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/hardware/collectives/collective_costs.h"
#include "models/jobs/schedules/execution.h"
#include "models/jobs/schedules/schedule.h"
#include "tests/configs.h"
#include "tests/models/streams_in_turn.h"
#include "tests/models/toy_run.h"
#include "tests/models/toy_transformer.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& parallel;
}

using namespace foretrace;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::Choices;
using foretrace::test::Given;
using foretrace::test::in_turn;
using foretrace::test::tasks_named;
using foretrace::test::toy_accelerator;
using foretrace::test::toy_transformer;
using foretrace::what_ifs::parallel;

namespace {

constexpr const char* gemm = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x4_nn";

Given pipeline(const char* stages, const char* micro_batches) {
  return {{"pipeline", stages}, {"micro_batches", micro_batches}, {"cluster", "dgx_a100"}};
}

/// Kernels of training on each rank: time of forward and backward, and how many.
struct RankWork {
  std::int64_t forward_ns = 0;
  std::int64_t backward_ns = 0;
  std::size_t kernels = 0;
  std::int64_t end_ns = 0;  // of the last backward kernel
};
std::map<std::int32_t, RankWork> work_by_rank(const TaskGraph& graph) {
  const Timeline timeline = simulate(graph);
  std::map<std::int32_t, RankWork> ranks;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.kind(task) != TaskKind::kernel) continue;
    RankWork& rank = ranks[graph.lane(task).rank];
    if (graph.phase(task) == Phase::forward) rank.forward_ns += graph.duration_ns(task);
    if (graph.phase(task) == Phase::backward) {
      rank.backward_ns += graph.duration_ns(task);
      rank.end_ns = std::max(rank.end_ns, timeline.end_ns(task));
    }
    if (graph.phase(task) == Phase::forward || graph.phase(task) == Phase::backward) {
      ++rank.kernels;
    }
  }
  return ranks;
}

}  // namespace

TEST_CASE("pipeline: every stage does its layers for every micro-batch, and none is lost") {
  const Accelerator a100 = toy_accelerator();
  const TaskGraph before = toy_transformer({.layers = 4});
  const std::size_t all = work_by_rank(before).at(0).kernels;
  const std::int64_t ns =
      work_by_rank(before).at(0).forward_ns + work_by_rank(before).at(0).backward_ns;
  for (const char* stages : {"2", "4"}) {
    CAPTURE(stages);
    const TaskGraph graph = after(before, parallel, pipeline(stages, "8"), &a100);
    const auto ranks = work_by_rank(graph);
    REQUIRE(ranks.size() == static_cast<std::size_t>(std::stoi(stages)));
    std::size_t kernels = 0;
    std::int64_t total = 0;
    for (const auto& [rank, work] : ranks) {
      kernels += work.kernels;
      total += work.forward_ns + work.backward_ns;
      CHECK(work.kernels % 8 == 0);
    }
    CHECK(kernels == 8 * all);
    CHECK(total == 8 * ns);
  }
}

TEST_CASE("pipeline: the run takes as long as the schedule with these stages and messages") {
  const Accelerator a100 = toy_accelerator();
  const TaskGraph graph =
      after(toy_transformer({.layers = 4}), parallel, pipeline("4", "8"), &a100);
  const auto ranks = work_by_rank(graph);
  PipelineTimes times;
  times.shape = {4, 8, 1};
  for (const auto& [rank, work] : ranks) {
    times.forward.push_back(work.forward_ns / 8);
    times.backward.push_back(work.backward_ns / 8);
  }
  times.send_forward.resize(3);
  times.send_backward.resize(3);
  for (const TaskId task : tasks_named(graph, "send of activations")) {
    times.send_forward[static_cast<std::size_t>(graph.lane(task).rank)] = graph.duration_ns(task);
  }
  for (const TaskId task : tasks_named(graph, "send of gradients")) {
    times.send_backward[static_cast<std::size_t>(graph.lane(task).rank - 1)] =
        graph.duration_ns(task);
  }
  const auto schedule = find_schedule("1f1b");
  const auto sequence = sequence_of(**schedule, times.shape, orders_of(**schedule, times.shape));
  REQUIRE(sequence.ok());
  const std::int64_t expected = execute(**schedule, times, *sequence).makespan_ns;
  // Calls take 1 us each ahead of their kernels.
  CHECK(static_cast<double>(ranks.at(0).end_ns) ==
        doctest::Approx(static_cast<double>(expected)).epsilon(0.01));
  CHECK(ranks.at(0).end_ns >= expected);
  // Messages are activations of 4096 tokens, both ways, for each micro-batch and boundary.
  for (const TaskId task : tasks_named(graph, "send of activations")) {
    const std::int64_t bytes = graph.work(task).bytes;
    CHECK((bytes == 4096 * 1024 * 4 || bytes == 4096 * 1024 * 2));  // as the first kernel reads
  }
  CHECK(tasks_named(graph, "send of activations").size() == 3 * 8);
  CHECK(tasks_named(graph, "send of gradients").size() == 3 * 8);
}

TEST_CASE("pipeline: each stage updates its own layers after its last micro-batch") {
  const Accelerator a100 = toy_accelerator();
  Given with_data = pipeline("2", "4");
  with_data.emplace_back("data", "8");
  for (const char* zero : {"0", "1"}) {
    CAPTURE(zero);
    Given given = with_data;
    given.emplace_back("zero", zero);
    const TaskGraph graph = after(toy_transformer({.layers = 4}), parallel, given, &a100);
    const Timeline timeline = simulate(graph);
    const std::vector<TaskId> updates = tasks_named(graph, "multi_tensor_apply_kernel<Adam>");
    const std::vector<TaskId> reductions = tasks_named(
        graph, zero[0] == '0' ? "all-reduce of gradients" : "reduce-scatter of gradients");
    REQUIRE(updates.size() == 2);
    REQUIRE(reductions.size() == 2);
    double bytes = 0;
    double update_ns = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int32_t rank = graph.lane(updates[i]).rank;
      const auto own = std::find_if(reductions.begin(), reductions.end(),
                                    [&](TaskId task) { return graph.lane(task).rank == rank; });
      REQUIRE(own != reductions.end());
      CHECK(timeline.start_ns(*own) >= work_by_rank(graph).at(rank).end_ns);
      CHECK(timeline.start_ns(updates[i]) >= timeline.end_ns(*own));
      bytes += static_cast<double>(graph.work(*own).bytes);
      update_ns += static_cast<double>(graph.duration_ns(updates[i]));
    }
    CHECK(bytes == doctest::Approx(4.0 * (4 * 12 * 1024 * 1024 + 2 * 32000 * 1024)).epsilon(1e-6));
    CHECK(update_ns == doctest::Approx(4e6 / (zero[0] == '0' ? 1 : 8)).epsilon(0.03));
    CHECK(tasks_named(graph, "all-gather of parameters").size() == (zero[0] == '0' ? 0 : 2));
  }
}

TEST_CASE("pipeline: with tensor, copies run in parts and their groups exchange on every stage") {
  const Accelerator a100 = toy_accelerator();
  const TaskGraph before = toy_transformer({.layers = 4});
  Given given = pipeline("2", "4");
  given.emplace_back("tensor", "4");
  const TaskGraph graph = after(before, parallel, given, &a100);
  const TaskGraph alone =
      after(before, parallel, {{"tensor", "4"}, {"cluster", "dgx_a100"}}, &a100);
  CHECK(tasks_named(graph, "all-reduce of activations").size() ==
        4 * tasks_named(alone, "all-reduce of activations").size());
  const auto sum = [](const TaskGraph& of, const char* name) {
    std::int64_t ns = 0;
    for (const TaskId task : tasks_named(of, name)) ns += of.duration_ns(task);
    return ns;
  };
  CHECK(sum(graph, gemm) == 4 * sum(alone, gemm));
  CHECK(sum(graph, "all-reduce of activations") == 4 * sum(alone, "all-reduce of activations"));
  std::set<std::int32_t> ranks;
  for (const TaskId task : tasks_named(graph, "all-reduce of activations")) {
    ranks.insert(graph.lane(task).rank);
  }
  CHECK(ranks.size() == 2);
  // Rows of another stage are waited for there, too: nothing overlaps them.
  const Timeline timeline = simulate(graph);
  std::int64_t end = 0;
  for (const TaskId task : tasks_named(graph, gemm)) end = std::max(end, timeline.end_ns(task));
  CHECK(end > sum(alone, gemm) * 4 / 2 + sum(alone, "all-reduce of activations"));
}

TEST_CASE("pipeline: one more micro-batch costs the slowest stage, more stages shorten a step") {
  const Accelerator a100 = toy_accelerator();
  const TaskGraph before = toy_transformer({.layers = 4});
  const auto end_of_backward = [&](const char* stages, const char* batches) {
    return work_by_rank(after(before, parallel, pipeline(stages, batches), &a100)).at(0).end_ns;
  };
  CHECK(end_of_backward("2", "8") < 8 * work_by_rank(before).at(0).end_ns * 6 / 10);
  CHECK(end_of_backward("4", "8") < end_of_backward("2", "8"));
  CHECK(end_of_backward("2", "9") > end_of_backward("2", "8"));
}

TEST_CASE("pipeline: refuses more stages than layers, inference, accumulation") {
  const Accelerator a100 = toy_accelerator();
  const auto error_of = [&](const TaskGraph& graph, const Given& given) {
    const auto change = apply_to(graph, parallel, given, &a100);
    REQUIRE_FALSE(change.ok());
    return change.error().message;
  };
  CHECK(error_of(toy_transformer(), pipeline("16", "0")).find("expected at most the") !=
        std::string::npos);
  CHECK(error_of(toy_transformer({.trains = false}), pipeline("2", "0"))
            .find("expected a training step") != std::string::npos);
  CHECK(error_of(toy_transformer(), pipeline("8", "65536")).find("expected at most") !=
        std::string::npos);
  // Modules alone cut layers, but do not tell what they hand on.
  CHECK(error_of(toy_transformer({.layers = 8, .names_modules = true, .shapes = false}),
                 pipeline("2", "4")) ==
        "pipeline: unknown size of activations between layers, expected recorded shapes");
}

TEST_CASE("pipeline: every schedule does the same work, in its own memory") {
  const Accelerator a100 = toy_accelerator();
  const TaskGraph before = toy_transformer({.layers = 8});
  const auto spread = [&](const char* schedule, const char* chunks) {
    Given given = pipeline("2", "8");
    given.emplace_back("schedule", schedule);
    given.emplace_back("chunks", chunks);
    return after(before, parallel, given, &a100);
  };
  const TaskGraph usual = spread("1f1b", "0");
  const auto kernels_ns = [](const TaskGraph& graph) {
    std::int64_t ns = 0;
    for (const auto& [rank, work] : work_by_rank(graph)) ns += work.forward_ns + work.backward_ns;
    return ns;
  };
  const auto end_ns = [](const TaskGraph& graph) { return work_by_rank(graph).at(0).end_ns; };
  for (const char* name : {"gpipe", "interleaved", "breadth_first"}) {
    CAPTURE(name);
    const TaskGraph graph = spread(name, "0");
    CHECK(kernels_ns(graph) == kernels_ns(usual));
    CHECK(graph.topology().launch_order_fixed);
  }
  // Twice as many pieces, half of the bubble.
  CHECK(end_ns(spread("interleaved", "2")) < end_ns(usual));
  CHECK(tasks_named(spread("interleaved", "2"), "send of activations").size() ==
        3 * tasks_named(usual, "send of activations").size());
  Given divided = pipeline("2", "8");
  divided.emplace_back("schedule", "zero_bubble_h1");
  const auto change = apply_to(before, parallel, divided, &a100);
  REQUIRE_FALSE(change.ok());
  CHECK(change.error().message.find("whose backward passes are divided") != std::string::npos);
}

TEST_CASE("pipeline: sharded parameters are collected once a step") {
  const Accelerator a100 = toy_accelerator();
  Given given = pipeline("2", "4");
  given.emplace_back("data", "8");
  given.emplace_back("zero", "3");
  const TaskGraph graph = after(toy_transformer({.layers = 4}), parallel, given, &a100);
  double gathered = 0;
  for (const TaskId task : tasks_named(graph, "all-gather of parameters")) {
    gathered += static_cast<double>(graph.work(task).bytes);
  }
  CHECK(gathered == doctest::Approx(4.0 * (4 * 12 * 1024 * 1024 + 2 * 32000 * 1024)).epsilon(1e-6));
  const Timeline timeline = simulate(graph);
  std::map<std::int32_t, std::int64_t> ends;  // of products, by rank
  for (const TaskId task : tasks_named(graph, gemm)) {
    std::int64_t& end = ends[graph.lane(task).rank];
    end = std::max(end, timeline.end_ns(task));
  }
  for (const TaskId task : tasks_named(graph, "reduce-scatter of gradients")) {
    CHECK(timeline.start_ns(task) >= ends.at(graph.lane(task).rank));
  }
}

TEST_CASE("pipeline: an update is written once, whatever collecting behind it costs") {
  const Accelerator a100 = toy_accelerator();
  for (const char* data : {"8", "512"}) {  // small layers of many ranks: latencies
    Given given = pipeline("2", "4");
    given.emplace_back("data", data);
    given.emplace_back("zero", "3");
    const TaskGraph graph = after(toy_transformer({.layers = 4}), parallel, given, &a100);
    CHECK(tasks_named(graph, "multi_tensor_apply_kernel<Adam>").size() == 2);
  }
}

TEST_CASE("shards: groups of ranks hold the parameters again and add their gradients up") {
  const Accelerator a100 = toy_accelerator();
  const auto spread = [&](const char* shard_size) {
    return after(
        toy_transformer({.layers = 4}), parallel,
        {{"data", "32"}, {"zero", "3"}, {"shard_size", shard_size}, {"cluster", "dgx_a100"}},
        &a100);
  };
  const TaskGraph one = spread("32");
  const TaskGraph groups = spread("8");
  CHECK(tasks_named(one, "all-reduce of gradients").empty());
  CHECK(tasks_named(groups, "all-reduce of gradients").size() ==
        tasks_named(groups, "reduce-scatter of gradients").size());
  const auto gathers_ns = [](const TaskGraph& graph) {
    std::int64_t ns = 0;
    for (const TaskId task : tasks_named(graph, "all-gather of parameters")) {
      ns += graph.duration_ns(task);
    }
    return ns;
  };
  CHECK(gathers_ns(groups) < gathers_ns(one));  // inside a node
  for (const auto& [key, value] : Given{{"schedule", "gpipe"}, {"chunks", "2"}}) {
    const auto change = apply_to(toy_transformer(), parallel, {{"data", "2"}, {key, value}}, &a100);
    REQUIRE_FALSE(change.ok());
    CHECK(change.error().message == key + ": only with pipeline");
  }
}

TEST_CASE("pipeline: the first stage loads every micro-batch") {
  const Accelerator a100 = toy_accelerator();
  const auto step = [](std::int64_t loading_ns) {
    return toy_transformer({.layers = 4, .loading_ns = loading_ns});
  };
  const auto end = [&](std::int64_t loading_ns) {
    const TaskGraph graph = after(step(loading_ns), parallel, pipeline("2", "4"), &a100);
    return work_by_rank(graph).at(0).end_ns;
  };
  // A second each: nothing else matters.
  const std::int64_t second = 1'000'000'000;
  CHECK(end(second) > 4 * second);
  CHECK(end(second) < 4 * second + end(0));
  // So it has few layers beside.
  const auto kernels = [&](std::int64_t loading_ns) {
    const TaskGraph graph = after(step(loading_ns), parallel, pipeline("2", "4"), &a100);
    return work_by_rank(graph).at(0).kernels;
  };
  CHECK(kernels(second) < kernels(0) / 2);
}

TEST_CASE("pipeline: host work between launches comes with every micro-batch") {
  const Accelerator a100 = toy_accelerator();
  const auto end = [&](std::int64_t allocation_ns) {
    const TaskGraph step = toy_transformer({.layers = 4, .allocation_ns = allocation_ns});
    const TaskGraph graph = after(step, parallel, pipeline("2", "4"), &a100);
    return work_by_rank(graph).at(0).end_ns;
  };
  // Half of the layers forward and backward, a second each, on the thread of the first stage.
  const std::int64_t second = 1'000'000'000;
  CHECK(end(second) > 4 * 2 * 2 * second);
}

TEST_CASE("pipeline: streams that wait for each other in the recording do so on every stage") {
  const Accelerator a100 = toy_accelerator();
  Choices choices(1);
  const TaskGraph one = in_turn(toy_transformer({.layers = 4}), 1, choices);
  const auto end_of = [&](const TaskGraph& before, const char* stages, const char* data) {
    Given given = pipeline(stages, "4");
    given.emplace_back("data", data);
    return work_by_rank(after(before, parallel, given, &a100)).at(0).end_ns;
  };
  for (int run = 0; run < 12; ++run) {
    CAPTURE(run);
    const TaskGraph several = in_turn(one, 3, choices);
    CHECK(work_by_rank(several).at(0).end_ns == work_by_rank(one).at(0).end_ns);
    for (const char* stages : {"2", "4"}) {
      CAPTURE(stages);
      for (const char* data : {"1", "2"}) {
        CHECK(static_cast<double>(end_of(several, stages, data)) ==
              doctest::Approx(static_cast<double>(end_of(one, stages, data))).epsilon(1e-3));
      }
    }
  }
}
