#include "apps/plans/stage_partition.h"

#include <algorithm>
#include <random>
#include <vector>

#include <doctest/doctest.h>

using namespace foretrace::mapping;

namespace {

struct Instance {
  std::vector<double> layer;  // time on one device
  double overhead = 0;        // share of a stage's time that further devices do not divide
  double memory = 1e9;        // of a device, in layers per micro-batch in flight
  std::uint32_t devices = 4;
  std::uint32_t node = 2;
  std::uint32_t micro_batches = 8;
};

// n devices take (1 - overhead) / n + overhead of the time; the second option takes a third longer
// and holds four times as many micro-batches.
StageProblem problem_of(const Instance& instance) {
  StageProblem problem;
  problem.layers = static_cast<std::uint32_t>(instance.layer.size());
  problem.devices = instance.devices;
  problem.node_devices = instance.node;
  for (std::uint32_t group = 1; group <= instance.devices; group *= 2) {
    problem.groups.push_back(group);
  }
  problem.micro_batches = instance.micro_batches;
  problem.options = [instance](std::uint32_t first, std::uint32_t last, std::uint32_t group) {
    double sum = 0;
    for (std::uint32_t i = first; i < last; ++i) sum += instance.layer[i];
    const double time = sum * ((1 - instance.overhead) / group + instance.overhead);
    constexpr double enough = 1e6;
    const auto held =
        static_cast<std::uint32_t>(std::min(enough, instance.memory * group / (last - first)));
    return std::vector<StageOption>{{time, held, 0}, {time * 4 / 3, 4 * held, 1}};
  };
  return problem;
}

// Every partition, by trying all cuts, groups and options from the front.
void try_all(const StageProblem& problem, std::vector<StageChoice>& stages, std::uint32_t layer,
             std::uint32_t device, double& best) {
  if (layer == problem.layers || device == problem.devices) {
    if (layer < problem.layers || device < problem.devices) return;
    double sum = 0;
    double slowest = 0;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const auto behind = static_cast<std::uint32_t>(stages.size() - i);
      if (stages[i].option.in_flight < std::min(behind, problem.micro_batches)) return;
      sum += stages[i].option.time;
      slowest = std::max(slowest, stages[i].option.time);
    }
    best = std::min(best, sum + (problem.micro_batches - 1) * slowest);
    return;
  }
  for (std::uint32_t last = layer + 1; last <= problem.layers; ++last) {
    for (const std::uint32_t group : problem.groups) {
      const std::uint32_t node = problem.node_devices;
      const bool has_place = device + group <= problem.devices &&
                             (group <= node ? device / node == (device + group - 1) / node
                                            : device % node == 0 && group % node == 0);
      if (!has_place) continue;
      for (const StageOption& option : problem.options(layer, last, group)) {
        stages.push_back({layer, last, group, option});
        try_all(problem, stages, last, device + group, best);
        stages.pop_back();
      }
    }
  }
}

double best_of_all(const StageProblem& problem) {
  double best = 1e300;
  std::vector<StageChoice> stages;
  try_all(problem, stages, 0, 0, best);
  return best;
}

/// The first of least total; null: there is none.
const StagePartition* least_total(const std::vector<StagePartition>& partitions) {
  const auto least =
      std::min_element(partitions.begin(), partitions.end(),
                       [](const auto& a, const auto& b) { return a.total < b.total; });
  return least == partitions.end() ? nullptr : &*least;
}

}  // namespace

TEST_CASE("stage partition: the cut lies where times are alike, not numbers of layers") {
  // 12 | 4 4 4 on two devices: 12 + 12 + 7 * 12 = 108; the even cut has 16 + 8 + 7 * 16 = 136.
  const StageProblem problem = problem_of({.layer = {12, 4, 4, 4}, .overhead = 1, .devices = 2});
  const auto found = stage_partitions(problem);
  const StagePartition* const best = least_total(found);
  REQUIRE(best != nullptr);
  REQUIRE(best->stages.size() == 2);
  CHECK(best->stages[0].last == 1);
  CHECK(best->total == doctest::Approx(108));
}

TEST_CASE("stage partition: a heavy part gets more devices than a light one") {
  // Without overhead 24 of 32 belong to layer 0: three quarters of the devices would be even, and
  // groups are powers of two. One stage of 4: 8 + 7 * 8 = 64 is the bound of all.
  Instance instance{.layer = {24, 8}, .devices = 4};
  CHECK(least_total(stage_partitions(problem_of(instance)))->total == doctest::Approx(64));
  // Two devices take 0.75 of the time of one, four 0.625: 20 + 7 * 20 = 160 on all four;
  // 18 + 8 * 0.75 + 7 * 18 = 150 on two each.
  instance.overhead = 0.5;
  const auto found = stage_partitions(problem_of(instance));
  const StagePartition* const best = least_total(found);
  REQUIRE(best != nullptr);
  CHECK(best->total == doctest::Approx(150));
  CHECK(best->stages.size() == 2);
}

TEST_CASE("stage partition: what all cuts, groups and options give, on random models") {
  std::mt19937 random(7);
  const auto draw = [&random](std::uint32_t least, std::uint32_t most) {
    return least + static_cast<std::uint32_t>(random() % (most - least + 1));
  };
  int with_memory = 0;
  for (int round = 0; round < 60; ++round) {
    Instance instance;
    for (std::uint32_t i = draw(2, 6); i > 0; --i) instance.layer.push_back(draw(1, 20));
    instance.overhead = 0.1 * draw(0, 9);
    instance.devices = 1U << draw(0, 3);
    instance.node = 1U << draw(0, 2);
    instance.micro_batches = draw(1, 9);
    if (round % 2 == 0) instance.memory = 0.5 * draw(1, 8);
    const StageProblem problem = problem_of(instance);
    const auto found = stage_partitions(problem);
    const double best = best_of_all(problem);
    CAPTURE(round);
    if (found.empty()) {
      CHECK(best == 1e300);
      continue;
    }
    const StagePartition* const least = least_total(found);
    CHECK(least->total == doctest::Approx(best));
    for (const StageChoice& stage : least->stages) with_memory += stage.option.number == 1 ? 1 : 0;
  }
  CHECK(with_memory > 0);
}

TEST_CASE("stage partition: earlier stages hold more micro-batches, and memory declines them") {
  // Room for one micro-batch of one layer: with two stages the first one holds two.
  StageProblem problem = problem_of({.layer = {1, 1}, .memory = 1, .devices = 2, .node = 1});
  problem.groups = {1};
  problem.options = [](std::uint32_t, std::uint32_t, std::uint32_t) {
    return std::vector<StageOption>{{1, 1, 0}};
  };
  CHECK(stage_partitions(problem).empty());
  problem.micro_batches = 1;
  CHECK(stage_partitions(problem).size() == 1);
}
