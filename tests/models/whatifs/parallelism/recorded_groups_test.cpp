// Jobs that were recorded on several ranks, grown by copies: what is divided among them, which
// groups grow, and what is refused.
#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/toy_job.h"
#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& parallel;
}

using namespace foretrace;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::Given;
using foretrace::test::toy_job;
using foretrace::test::ToyKernel;
using foretrace::test::ToyRun;
using what_ifs::parallel;

namespace {

constexpr std::int64_t mib = 1 << 20;

void collective(ToyRun& run, CollectiveKind kind, std::uint32_t communicator) {
  run.kernel({.name = "ncclDevKernel",
              .duration_ns = 5'000'000,
              .phase = Phase::communication,
              .kind = TaskKind::collective,
              .collective = kind,
              .communicator = communicator,
              .bytes = 16 * mib});
}

/// Two ranks of copies, of which one was recorded, with its state.
TaskGraph copies(CollectiveKind sum, bool collects_backward) {
  ToyRun run;
  for (const TensorCategory category : {TensorCategory::weight, TensorCategory::gradient,
                                        TensorCategory::optimizer_state, TensorCategory::input}) {
    Tensor tensor;
    tensor.bytes = 32 * mib;
    tensor.device = 0;
    tensor.category = category;
    run.builder().add_tensor(tensor);
  }
  collective(run, CollectiveKind::all_gather, 0);
  run.kernel({.name = "fwd", .duration_ns = 1'000'000});
  run.kernel({.name = "bwd", .duration_ns = 1'000'000, .phase = Phase::backward});
  if (collects_backward) collective(run, CollectiveKind::all_gather, 0);
  run.kernel({.name = "bwd", .duration_ns = 1'000'000, .phase = Phase::backward});
  collective(run, sum, 0);
  run.kernel({.name = "adam", .duration_ns = 100'000, .phase = Phase::update});
  run.builder().add_communicator({"world", 2, {0}});
  return run.build();
}

std::vector<std::int64_t> held(const TaskGraph& graph) {
  std::vector<std::int64_t> bytes;
  for (const Tensor& tensor : graph.context().tensors) bytes.push_back(tensor.bytes / mib);
  return bytes;
}

Given of_copies(int count) { return {{"data", std::to_string(count)}, {"cluster", "dgx_a100"}}; }

}  // namespace

TEST_CASE("recorded groups: what copies share gets smaller as they get more, and comes back") {
  using Bytes = std::vector<std::int64_t>;
  const auto grown = [](const TaskGraph& job) { return held(after(job, parallel, of_copies(8))); };
  const TaskGraph whole = copies(CollectiveKind::all_reduce, false);
  CHECK(grown(whole) == Bytes{32, 32, 32, 32});
  // An optimizer that is shared collects parameters for the next pass.
  const TaskGraph states = copies(CollectiveKind::reduce_scatter, false);
  CHECK(grown(states) == Bytes{32, 32, 8, 32});
  const TaskGraph shards = copies(CollectiveKind::reduce_scatter, true);
  CHECK(grown(shards) == Bytes{8, 8, 8, 32});
  CHECK(held(after(shards, parallel, of_copies(2))) == held(shards));
  CHECK(held(after(after(shards, parallel, of_copies(8)), parallel, of_copies(2))) == held(shards));
}

TEST_CASE("recorded groups: one copy waits for nobody, however late the others are") {
  std::mt19937 random(11);
  for (int draw = 0; draw < 20; ++draw) {
    std::array<std::int64_t, 2> before{};
    for (std::int64_t& ns : before) ns = static_cast<std::int64_t>(1 + random() % 1'000'000);
    constexpr std::int64_t then = 50'000;
    const TaskGraph job =
        toy_job({.before = before, .transfer = 9'000'000, .after = then, .bytes = 16 * mib});
    const TaskGraph one = after(job, parallel, of_copies(1));
    const Timeline timeline = simulate(one);
    std::array<std::int64_t, 2> ends{};
    for (std::size_t t = 0; t < one.size(); ++t) {
      const auto task = make_id<TaskId>(t);
      if (one.kind(task) != TaskKind::kernel) continue;
      std::int64_t& end = ends[static_cast<std::size_t>(one.lane(task).rank)];
      end = std::max(end, timeline.end_ns(task));
    }
    for (const std::size_t rank : {0U, 1U}) CHECK(ends[rank] == before[rank] + then);
  }
}

TEST_CASE("recorded groups: tokens go to as many experts as before, tables to more ranks") {
  for (const bool routes : {true, false}) {
    CAPTURE(routes);
    ToyRun run;
    run.kernel({.name = routes ? "gatherTopK" : "bag",
                .duration_ns = 10'000,
                .operator_name = routes ? "aten::topk" : "aten::embedding_bag"});
    collective(run, CollectiveKind::all_to_all, 1);
    run.kernel({.name = "fwd", .duration_ns = 1'000'000});
    run.kernel({.name = "bwd", .duration_ns = 1'000'000, .phase = Phase::backward});
    collective(run, CollectiveKind::all_reduce, 0);
    run.builder().add_communicator({"copies", 2, {0}});
    run.builder().add_communicator({"others", 2, {0}});
    const TaskGraph graph = after(run.build(), parallel, of_copies(8));
    for (std::size_t t = 0; t < graph.size(); ++t) {
      const Work& work = graph.work(make_id<TaskId>(t));
      if (work.collective == CollectiveKind::none) continue;
      const bool stays = routes && work.collective == CollectiveKind::all_to_all;
      CHECK(graph.context().communicators[work.communicator].size == (stays ? 2 : 8));
    }
  }
}

TEST_CASE("recorded groups: scores that are counted behind the last exchange send no tokens") {
  ToyRun run;
  run.kernel({.name = "bag", .duration_ns = 10'000, .operator_name = "aten::embedding_bag"});
  collective(run, CollectiveKind::all_to_all, 1);
  const ToyKernel scores = {
      .name = "gatherTopK", .duration_ns = 10'000, .operator_name = "aten::topk"};
  run.kernel(scores);  // of an accuracy
  run.kernel({.name = "bwd", .duration_ns = 1'000'000, .phase = Phase::backward});
  ToyKernel largest = scores;  // of gradients that are compressed
  largest.phase = Phase::backward;
  run.kernel(largest);
  collective(run, CollectiveKind::all_to_all, 1);
  collective(run, CollectiveKind::all_reduce, 0);
  run.builder().add_communicator({"copies", 2, {0}});
  run.builder().add_communicator({"tables", 2, {0}});
  const TaskGraph graph = after(run.build(), parallel, of_copies(8));
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const Work& work = graph.work(make_id<TaskId>(t));
    if (work.collective == CollectiveKind::none) continue;
    CHECK(graph.context().communicators[work.communicator].size == 8);
  }
}

TEST_CASE("recorded groups: what describes a run of one device is refused, not ignored") {
  const TaskGraph job = copies(CollectiveKind::all_reduce, false);
  using Option = std::pair<std::string, std::string>;
  for (const Option& option : std::vector<Option>{{"zero", "1"},
                                                  {"layers", "4"},
                                                  {"bucket", "1 MiB"},
                                                  {"bucket_view", "true"},
                                                  {"parameters", "1e6"},
                                                  {"gradient_bytes", "2"},
                                                  {"sequence", "true"}}) {
    CAPTURE(option.first);
    for (const bool recorded : {false, true}) {
      Given given = {{"cluster", "dgx_a100"}};
      given.emplace_back(recorded ? "recorded" : "data", recorded ? "true" : "8");
      CHECK(apply_to(job, parallel, given).ok());
      given.push_back(option);
      const auto refused = apply_to(job, parallel, given);
      REQUIRE_FALSE(refused.ok());
      CHECK(refused.error().message.find(option.first) != std::string::npos);
      CHECK(refused.error().message.find("expected") != std::string::npos);
    }
  }
  Given ranks = of_copies(8);
  ranks.emplace_back("ranks", "4");
  CHECK(apply_to(job, parallel, ranks).error().message.starts_with("ranks: only with recorded"));
}
