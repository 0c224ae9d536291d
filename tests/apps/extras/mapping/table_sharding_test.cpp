#include "apps/extras/mapping/table_sharding.h"

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include <doctest/doctest.h>

using namespace foretrace::mapping;

namespace {

ShardingProblem problem_of(std::vector<EmbeddingTable> tables, std::size_t devices) {
  ShardingProblem problem;
  problem.tables = std::move(tables);
  problem.devices = devices;
  problem.batch = 1000;
  problem.memory_bytes = 1e12;
  problem.lookup_bytes_per_s = 1e9;
  problem.link_bytes_per_s = 1e9;
  return problem;
}

// Seconds of the best of all placements of whole tables, of which there are devices ^ tables.
std::optional<double> best_of_all(const ShardingProblem& problem) {
  std::optional<double> best;
  std::vector<std::size_t> device(problem.tables.size(), 0);
  for (bool more = true; more;) {
    const auto seconds = plan_seconds(problem, problem.tables, device);
    if (seconds && (!best || *seconds < *best)) best = seconds;
    more = false;
    for (std::size_t& one : device) {
      if (++one < problem.devices) {
        more = true;
        break;
      }
      one = 0;
    }
  }
  return best;
}

}  // namespace

TEST_CASE("table sharding: the cost of a plan by hand") {
  // One table of 8 numbers and one of 16, each looked up once, on two devices:
  // lookups 1000 x 8 x 4 B / 1 GB/s = 32 us and 64 us; exchanges of half of that, 16 us and 32 us.
  const ShardingProblem problem = problem_of({{100, 8, 1}, {100, 16, 1}}, 2);
  // Device 0 is there after 48 us and waits for device 1, which is after 96 and takes 32 back.
  CHECK(*plan_seconds(problem, problem.tables, {0, 1}) == doctest::Approx(128e-6));
  // All on one: 96 + 48 there and 48 back; the other waits.
  CHECK(*plan_seconds(problem, problem.tables, {0, 0}) == doctest::Approx(192e-6));
}

TEST_CASE("table sharding: tables that do not fit are no plan") {
  ShardingProblem problem = problem_of({{100, 8, 1}, {100, 8, 1}}, 2);
  problem.memory_bytes = 3200;
  CHECK_FALSE(plan_seconds(problem, problem.tables, {0, 0}));
  CHECK(shard_tables(problem));
  problem.memory_bytes = 1599;
  CHECK_FALSE(best_of_all(problem));
  CHECK_FALSE(shard_tables(problem));
}

TEST_CASE("table sharding: one huge table is halved over the devices") {
  const ShardingProblem problem = problem_of({{1000, 64, 20}}, 2);
  const auto plan = shard_tables(problem);
  REQUIRE(plan);
  CHECK(plan->parts.size() >= 2);
  CHECK(plan->seconds == doctest::Approx(*best_of_all(problem) / 2).epsilon(0.35));
  CHECK(plan->seconds < *best_of_all(problem));
}

TEST_CASE("table sharding: near the best of all placements, and with halves often better") {
  double worst = 0;
  int better = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<EmbeddingTable> tables;
    for (int i = 0; i < 7; ++i) {
      tables.push_back(
          {1000, static_cast<double>(8 << (random() % 4)), static_cast<double>(1 + random() % 20)});
    }
    const ShardingProblem problem = problem_of(std::move(tables), 3);
    const auto best = best_of_all(problem);
    const auto whole = shard_tables(problem, {.steps = 0});
    const auto found = shard_tables(problem);
    REQUIRE(best);
    REQUIRE(whole);
    REQUIRE(found);
    // Without halves nothing is better than trying all; with them, never worse than without.
    CHECK(whole->seconds >= *best * (1 - 1e-12));
    CHECK(found->seconds <= whole->seconds * (1 + 1e-12));
    worst = std::max(worst, found->seconds / *best);
    better += found->seconds < *best ? 1 : 0;
    // Halves of a table are the table.
    std::vector<double> dims(problem.tables.size(), 0);
    for (std::size_t i = 0; i < found->parts.size(); ++i) dims[found->of[i]] += found->parts[i].dim;
    for (std::size_t t = 0; t < dims.size(); ++t) CHECK(dims[t] == problem.tables[t].dim);
  }
  CHECK(worst <= 1.1);
  CHECK(better >= 20);
}
