#include "models/jobs/program/graphs/rank_nodes.h"

#include <algorithm>
#include <array>
#include <map>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/accelerator.h"
#include "models/jobs/program/estimate.h"
#include "tests/configs.h"
#include "tests/models/jobs/program/selene_job.h"

using foretrace::Axis;
using foretrace::axis_of;
using foretrace::build_program;
using foretrace::CollectiveKind;
using foretrace::find_cluster;
using foretrace::find_framework;
using foretrace::find_model;
using foretrace::find_schedule;
using foretrace::first_of_group;
using foretrace::GridAxis;
using foretrace::Job;
using foretrace::rank_nodes;
using foretrace::RankNode;
using foretrace::RankNodeType;
using foretrace::Sharding;
using foretrace::test::job_of;
using foretrace::test::job_of_64;
using foretrace::test::JobParts;
using foretrace::test::selene;

namespace {

std::vector<RankNode> program_of(const Job& job, std::uint32_t stage) {
  auto nodes = rank_nodes(job, *build_program(job), stage);
  REQUIRE_MESSAGE(nodes.ok(), nodes.error().message);
  return std::move(*nodes);
}

}  // namespace

TEST_CASE("rank nodes: every send has its receive, with the same bytes and the same message") {
  const JobParts given = selene("gpt_22b");
  for (const std::uint32_t chunks : {1U, 3U}) {
    Job job = job_of_64(given);
    job.chunks = chunks;
    job.schedule = *find_schedule(chunks > 1 ? "interleaved" : "1f1b");
    // By message: what was sent from stage to stage.
    std::map<std::uint32_t, std::array<double, 3>> sent;
    std::map<std::uint32_t, std::array<double, 3>> received;
    for (std::uint32_t stage = 0; stage < 4; ++stage) {
      for (const RankNode& node : program_of(job, stage)) {
        if (node.type == RankNodeType::send) {
          CHECK(sent.emplace(node.message, std::array{1. * stage, 1. * node.stage, node.bytes})
                    .second);
        } else if (node.type == RankNodeType::receive) {
          CHECK(received.emplace(node.message, std::array{1. * node.stage, 1. * stage, node.bytes})
                    .second);
        }
      }
    }
    // 8 micro-batches over 4 x chunks - 1 edges, there and back.
    CHECK(sent.size() == 8 * (4 * chunks - 1) * 2);
    CHECK(sent == received);
  }
}

TEST_CASE("rank nodes: a node waits for nodes before it alone, and its chain is never cut") {
  const JobParts given = selene("gpt_22b");
  const std::vector<RankNode> program = program_of(job_of_64(given), 1);
  REQUIRE(program.size() > 100);
  for (std::uint32_t i = 1; i < program.size(); ++i) {
    CHECK_FALSE(program[i].after.empty());
    for (const std::uint32_t before : program[i].after) CHECK(before < i);
  }
}

TEST_CASE("rank nodes: without a pipeline its computation and collectives add up to the step") {
  const JobParts given = selene("gpt_22b");
  Job job = job_of_64(given);
  job.plan.pipeline = 1;
  job.plan.data = 1;
  job.global_batch = 4;
  job.micro_batch = 4;
  // The longest way through the nodes.
  std::vector<double> ends;
  const std::vector<RankNode> program = program_of(job, 0);
  double longest = 0;
  for (const RankNode& node : program) {
    double begin = 0;
    for (const std::uint32_t before : node.after) begin = std::max(begin, ends[before]);
    ends.push_back(begin + node.ns);
    longest = std::max(longest, ends.back());
  }
  // Kernels beside a collective are slower in the estimate; here they are as fast as alone.
  const double step = static_cast<double>(foretrace::estimate(job)->step_ns);
  CHECK(longest < step);
  CHECK(longest > 0.95 * step);
}

TEST_CASE("rank nodes: gradients go as the plan shards them") {
  const JobParts given = selene("gpt_22b");
  Job job = job_of_64(given);
  const auto count = [&](CollectiveKind kind) {
    const auto program = program_of(job, 0);
    return std::count_if(program.begin(), program.end(), [&](const RankNode& node) {
      return node.collective == kind && node.group == axis_of(job.plan, Axis::data);
    });
  };
  CHECK(count(CollectiveKind::all_reduce) == 1);
  job.plan.sharding = Sharding::optimizer;
  CHECK(count(CollectiveKind::reduce_scatter) == 1);
  CHECK(count(CollectiveKind::all_gather) == 1);
  job.plan.sharding = Sharding::parameters;
  CHECK(count(CollectiveKind::reduce_scatter) > 100);
}

TEST_CASE("rank nodes: sharded parameters come early and the update waits for the gradients") {
  JobParts given = selene("gpt_22b");
  auto llama = find_model(*foretrace::test::shipped(), "llama3_8b");
  auto titan = find_framework(*foretrace::test::shipped(), "torchtitan");
  auto machine = find_cluster(*foretrace::test::shipped(), "torchtitan_h100");
  REQUIRE((llama.ok() && titan.ok() && machine.ok()));
  given = {std::move(*llama), std::move(*machine), std::move(*titan)};
  Job job;
  job.model = &given.model.transformer;
  job.cluster = &given.cluster;
  job.framework = &given.framework;
  job.schedule = *find_schedule("1f1b");
  job.precisions.activations = foretrace::Precision::bf16;
  job.length = 8192;
  job.plan.data = 8;
  job.plan.sharding = Sharding::parameters;
  job.global_batch = 8;
  const std::vector<RankNode> program = program_of(job, 0);

  // With a prefetch of one the parameters of a block wait for no kernel of the block before it.
  std::vector<std::uint32_t> gathers;
  std::vector<std::uint32_t> scatters;
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    if (program[i].collective == CollectiveKind::all_gather) gathers.push_back(i);
    if (program[i].collective == CollectiveKind::reduce_scatter) scatters.push_back(i);
  }
  REQUIRE(gathers.size() > 60);
  REQUIRE(scatters.size() == 34);  // 32 layers, embedding, head
  for (std::size_t k = 2; k < 30; ++k) {
    // Asked for when the block before begins: its first kernel comes after, and waits for its own.
    std::uint32_t kernel = gathers[k] + 1;
    while (program[kernel].type != RankNodeType::compute) ++kernel;
    const auto& after = program[kernel].after;
    CHECK(std::find(after.begin(), after.end(), gathers[k - 1]) != after.end());
    CHECK(std::find(after.begin(), after.end(), gathers[k]) == after.end());
  }
  const RankNode& update = program.back();
  CHECK(update.name == "optimizer");
  CHECK(std::find(update.after.begin(), update.after.end(), scatters.back()) != update.after.end());

  const auto longest_way = [](const std::vector<RankNode>& nodes) {
    std::vector<double> ends;
    for (const RankNode& node : nodes) {
      double begin = 0;
      for (const std::uint32_t before : node.after) begin = std::max(begin, ends[before]);
      ends.push_back(begin + node.ns);
    }
    return *std::max_element(ends.begin(), ends.end());
  };
  // Kernels beside collectives are as fast as alone here.
  const auto step = static_cast<double>(estimate(job)->step_ns);
  CHECK(longest_way(program) < 1.02 * step);
  CHECK(longest_way(program) > 0.85 * step);
  // On links that hardly move nothing hides the collectives: the step is at least their sum.
  given.cluster.regimes.clear();
  given.cluster.curves.clear();
  given.cluster.link_bandwidth = 1e9;
  const std::vector<RankNode> slow = program_of(job, 0);
  double traveling = 0;
  for (const RankNode& node : slow) {
    if (node.type == RankNodeType::collective) traveling += node.ns;
  }
  CHECK(longest_way(slow) >= traveling);
}

TEST_CASE("rank nodes: shards of a part of the data group have copies, which add up theirs") {
  const JobParts given = selene("gpt_22b");
  Job job = job_of_64(given);
  job.plan.pipeline = 1;
  job.plan.data = 8;
  job.global_batch = 8;
  job.micro_batch = 1;
  job.plan.sharding = Sharding::parameters;
  const auto whole = program_of(job, 0);
  job.plan.shard_size = 4;
  const auto parts = program_of(job, 0);
  // Two copies of four shards each: tensor ranks are eight apart from shard to shard.
  const GridAxis shards = {4, 8, job.plan.ranks()};
  const GridAxis copies = {2, 32, job.plan.ranks()};
  double scattered = 0;
  double added = 0;
  for (const RankNode& node : parts) {
    if (node.collective == CollectiveKind::all_gather && node.name == "collect parameters") {
      CHECK(node.group == shards);
    }
    if (node.name == "divide gradients") {
      CHECK(node.group == shards);
      scattered += node.bytes;
    }
    if (node.name == "reduce gradients") {
      CHECK(node.collective == CollectiveKind::all_reduce);
      CHECK(node.group == copies);
      added += node.bytes;
    }
  }
  // A rank adds up its shard of what was divided, no more.
  CHECK(added == doctest::Approx(scattered / 4));
  CHECK(scattered > 0);
  for (const RankNode& node : whole) CHECK(node.name != "reduce gradients");
  // The update waits for the last of them.
  const RankNode& update = parts.back();
  REQUIRE(update.name == "optimizer");
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    if (parts[i].type == RankNodeType::collective) last = i;
  }
  CHECK(std::find(update.after.begin(), update.after.end(), last) != update.after.end());
  // Ranks 3 and 35 hold the same shard.
  CHECK(first_of_group(copies, 35) == 3);
}

TEST_CASE("rank nodes: with whole parameters copies of a share add up theirs, too") {
  const JobParts given = selene("gpt_22b");
  Job job = job_of_64(given);
  job.plan.pipeline = 1;
  job.plan.data = 8;
  job.global_batch = 8;
  job.micro_batch = 1;
  const GridAxis shards = {4, 8, job.plan.ranks()};
  const GridAxis copies = {2, 32, job.plan.ranks()};
  for (const Sharding sharding : {Sharding::optimizer, Sharding::gradients}) {
    job.plan.sharding = sharding;
    job.plan.shard_size = 0;
    const auto of_all = build_program(job)->step.stages.at(0).gradients;
    job.plan.shard_size = 4;
    const auto nodes = program_of(job, 0);
    double scattered = 0;
    double added = 0;
    double ns = 0;
    for (const RankNode& node : nodes) {
      if (node.name != "reduce gradients") continue;
      const bool scatters = node.collective == CollectiveKind::reduce_scatter;
      CHECK(node.group == (scatters ? shards : copies));
      (scatters ? scattered : added) += node.bytes;
      ns += node.ns;
    }
    CHECK(scattered > 0);
    CHECK(added == doctest::Approx(scattered / 4));
    // The estimate counts the same, and not the exchange of all copies in one piece.
    const auto in_groups = build_program(job)->step.stages.at(0).gradients;
    CHECK(static_cast<double>(in_groups) == doctest::Approx(ns).epsilon(0.001));
    CHECK(in_groups != of_all);
  }
}

TEST_CASE("rank nodes: ranks of a group lie a stride apart") {
  // Two data ranks of eight tensor ranks: rank 11 and rank 3.
  CHECK(first_of_group(GridAxis{2, 8}, 11) == 3);
  CHECK(first_of_group(GridAxis{8, 1}, 11) == 8);
  CHECK(first_of_group(GridAxis{4, 16}, 37) == 5);
}

TEST_CASE("rank nodes: the last block stays collected where the framework keeps it") {
  JobParts given = selene("gpt_22b", "torchtitan");
  Job job = job_of(given);
  job.plan.data = 8;
  job.global_batch = 16;  // two micro-batches
  job.plan.sharding = Sharding::parameters;
  const auto gathered = [&] {
    double bytes = 0;
    for (const RankNode& node : program_of(job, 0)) {
      if (node.collective == CollectiveKind::all_gather) bytes += node.bytes;
    }
    return bytes;
  };
  const auto backward_ns = [&] { return build_program(job)->step.backward.front().total; };
  const double again = gathered();
  const double again_ns = backward_ns();
  given.framework.keeps_last_collected = true;
  const auto program = build_program(job);
  const auto& last = (*program->blocks)[program->order.back().block];
  CHECK(again - gathered() ==
        doctest::Approx(2 * last.collected_weights() * given.framework.gather_bytes));
  CHECK(backward_ns() < again_ns);  // its first block waited for it
  // With a pipeline whose stages collect for every pass, on the last stage alone.
  given.framework.pipeline_keeps_collected = false;
  job.plan.pipeline = 2;
  const auto on_stage = [&](std::uint32_t stage) {
    const auto nodes = program_of(job, stage);
    return std::count_if(nodes.begin(), nodes.end(), [](const RankNode& node) {
      return node.collective == CollectiveKind::all_gather;
    });
  };
  const auto kept = std::array{on_stage(0), on_stage(1)};
  given.framework.keeps_last_collected = false;
  CHECK(kept[0] == on_stage(0));
  CHECK(kept[1] == on_stage(1) - 2);
}

TEST_CASE("rank nodes: gradients leave in buckets, of elements or of bytes, the first one early") {
  JobParts given = selene("gpt_22b");
  given.framework.overlaps_gradients = true;
  Job job = job_of_64(given);
  job.plan.pipeline = 1;
  const auto buckets = [&] {
    std::vector<double> bytes;
    for (const RankNode& node : program_of(job, 0)) {
      if (node.collective == CollectiveKind::all_reduce && node.travels)
        bytes.push_back(node.bytes);
    }
    return bytes;
  };
  const auto sum = [](const std::vector<double>& bytes) {
    double all = 0;
    for (const double one : bytes) all += one;
    return all;
  };
  const std::vector<double> large = buckets();
  const double least = 40e6 * given.framework.reduce_bytes;
  REQUIRE(large.size() > 1);
  for (std::size_t i = 0; i + 1 < large.size(); ++i) CHECK(large[i] >= least);
  given.framework.bucket_bytes = 2 * least;
  given.framework.first_bucket_bytes = 1e6;
  const std::vector<double> first_small = buckets();
  REQUIRE(first_small.size() > 2);
  CHECK(first_small[0] >= 1e6);
  CHECK(first_small[0] < 2 * least);  // one block
  for (std::size_t i = 1; i + 1 < first_small.size(); ++i) CHECK(first_small[i] >= 2 * least);
  CHECK(sum(first_small) == doctest::Approx(sum(large)));
  // What the formula leaves exposed, a smaller last bucket shortens.
  const auto exposed = [&] { return build_program(job)->step.stages.front().gradients; };
  const auto in_large = exposed();
  given.framework.bucket_bytes = least / 4;
  CHECK(exposed() < in_large);
}
