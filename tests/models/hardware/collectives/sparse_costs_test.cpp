#include "models/hardware/collectives/sparse_costs.h"

#include <doctest/doctest.h>

#include "models/hardware/networks/placement.h"
#include "tests/configs.h"

using foretrace::blocks_of_nodes;
using foretrace::Cluster;
using foretrace::collective_time;
using foretrace::CollectiveKind;
using foretrace::place_alone;
using foretrace::sparse_sum_ns;
using foretrace::SparseBlocks;
using foretrace::SparseMethod;
using foretrace::SparseSum;
using foretrace::union_density;

namespace {

constexpr double buffer = 1e11;

Cluster selene() {
  auto cluster = foretrace::find_cluster(*foretrace::test::shipped(), "selene");
  REQUIRE_MESSAGE(cluster.ok(), cluster.error().message);
  return std::move(*cluster);
}

double ns(const Cluster& cluster, const SparseSum& sum, std::uint32_t nodes,
          std::uint32_t per_node = 1) {
  return sparse_sum_ns(
      cluster, {CollectiveKind::all_reduce, buffer, place_alone(cluster, nodes, per_node)}, sum);
}

}  // namespace

TEST_CASE("sparse_costs: the union of all workers is the same, taken by nodes or at once") {
  for (const double overlap : {0.0, 0.4, 1.0}) {
    const SparseBlocks blocks{.density = 0.03, .overlap = overlap};
    const SparseBlocks node = blocks_of_nodes(blocks, 8);
    CHECK(node.density == doctest::Approx(union_density(blocks, 8)));
    CHECK(union_density(node, 16) == doctest::Approx(union_density(blocks, 128)));
  }
  CHECK(blocks_of_nodes({.density = 0}, 8).density == 0);
}

TEST_CASE("sparse_costs: large sums follow the fullest link, inside a node nothing changes") {
  const Cluster cluster = selene();
  const SparseSum sum{.blocks = {.density = 0.05, .overlap = 1, .index_bytes = 0}};
  // One port of 25 GB/s at its usual share.
  const double link = 25e9 * cluster.network.efficiency.typical;
  CHECK(ns(cluster, sum, 16) == doctest::Approx(0.05 * buffer / link * 1e9).epsilon(0.001));
  SparseSum few = sum;
  few.servers = 4;
  CHECK(ns(cluster, few, 16) == doctest::Approx(4 * 0.05 * buffer / link * 1e9).epsilon(0.001));
  CHECK(ns(cluster, sum, 1, 8) ==
        collective_time(cluster, {CollectiveKind::all_reduce, buffer, place_alone(cluster, 1, 8)})
            .ns);
  // Eight accelerators of a node add up the whole buffer before.
  const double inside = ns(cluster, sum, 1, 8);
  CHECK(ns(cluster, sum, 16, 8) ==
        doctest::Approx(inside + 0.05 * buffer / (8 * link) * 1e9).epsilon(0.001));
}

TEST_CASE("sparse_costs: switches take what servers of the same links take, less the way") {
  Cluster cluster = selene();
  cluster.network.aggregation = {.trees = 8, .port_rate = 25e9};
  SparseSum sum{.blocks = {.density = 0.05}};
  const double servers = ns(cluster, sum, 16);
  sum.method = SparseMethod::network;
  CHECK(ns(cluster, sum, 16) == doctest::Approx(servers).epsilon(0.001));
  CHECK(ns(cluster, sum, 16) < servers);
}

TEST_CASE("sparse_costs: with more workers a gather of single numbers loses against a ring") {
  const Cluster cluster = selene();
  const SparseSum top{SparseMethod::all_gather, {.density = 0.01, .numbers = 1}, 0};
  const auto ring = [&](std::uint32_t nodes) {
    return collective_time(cluster,
                           {CollectiveKind::all_reduce, buffer, place_alone(cluster, nodes, 1)})
        .ns;
  };
  // n - 1 times two hundredths of the buffer, with its indices, against almost 2.
  CHECK(ns(cluster, top, 16) < 0.3 * ring(16));
  CHECK(ns(cluster, top, 256) > 2 * ring(256));
}
