#include "models/hardware/collectives/switch_aggregation.h"

#include <string>

#include <doctest/doctest.h>

#include "models/hardware/networks/placement.h"
#include "tests/configs.h"

using foretrace::aggregation_rate;
using foretrace::Cluster;
using foretrace::collective_time;
using foretrace::CollectiveKind;
using foretrace::place_alone;
using foretrace::sent_bytes;

namespace {

constexpr double buffer = 1e11;

// Nodes of one accelerator with one port of 12 GB/s, a speed that NCCL's search tries; no latency.
Cluster cluster_of(std::uint32_t trees, double port_rate) {
  auto found = foretrace::find_cluster(*foretrace::test::shipped(), "selene");
  REQUIRE_MESSAGE(found.ok(), found.error().message);
  Cluster cluster = std::move(*found);
  cluster.nodes = 1000;
  cluster.node_accelerators = 1;
  cluster.network.nics = 1;
  cluster.network.nic_bandwidth = 12e9;
  cluster.network.efficiency = {};
  cluster.network.step_latency_ns = 0;
  cluster.network.aggregation = {.trees = trees, .port_rate = port_rate};
  return cluster;
}

double ns(const Cluster& cluster, std::uint32_t nodes, double bytes = buffer,
          std::uint32_t per_node = 1) {
  return collective_time(cluster,
                         {CollectiveKind::all_reduce, bytes, place_alone(cluster, nodes, per_node)})
      .ns;
}

}  // namespace

TEST_CASE("switch_aggregation: a large sum takes one passage of the buffer, a ring almost two") {
  const Cluster rings = cluster_of(0, 0);
  const Cluster trees = cluster_of(1, 12e9);
  for (const std::uint32_t nodes : {8U, 64U, 1000U}) {
    CAPTURE(nodes);
    CHECK(ns(trees, nodes) == doctest::Approx(buffer / 12e9 * 1e9));
    // 2 (n - 1) / n, and what NCCL's steps take beside it.
    CHECK(ns(rings, nodes) / ns(trees, nodes) ==
          doctest::Approx(2.0 * (nodes - 1) / nodes).epsilon(0.01));
  }
}

TEST_CASE("switch_aggregation: 1000 workers that sum 1 GB 1000 times send 1.998 PB in rings") {
  const Cluster cluster = cluster_of(1, 12e9);
  const foretrace::CollectiveCall call{CollectiveKind::all_reduce, 1e9,
                                       place_alone(cluster, 1000, 1)};
  CHECK(sent_bytes(call) * 1000 * 1000 == doctest::Approx(1.998e15));
  // With trees each of them sends its gigabyte once: time x rate.
  const double rate = aggregation_rate(cluster, call.group, 1);
  CHECK(ns(cluster, 1000, 1e9) * 1e-9 * rate * 1000 * 1000 == doctest::Approx(1e15));
}

TEST_CASE("switch_aggregation: elements slower than the ports, and few trees, limit the rate") {
  CHECK(ns(cluster_of(1, 6e9), 64, buffer) ==
        doctest::Approx(std::min(ns(cluster_of(0, 0), 64), buffer / 6e9 * 1e9)));
  // Slower than a ring: the ring stays.
  CHECK(ns(cluster_of(4, 1e9), 64) == doctest::Approx(ns(cluster_of(0, 0), 64)));
  Cluster ports = cluster_of(1, 12e9);
  ports.network.nics = 8;
  ports.node_accelerators = 8;
  const auto group = place_alone(ports, 16, 8);
  for (const auto& [trees, used] : {std::pair{1U, 1.0}, {3U, 3.0}, {8U, 8.0}, {64U, 8.0}}) {
    ports.network.aggregation.trees = trees;
    CHECK(aggregation_rate(ports, group, 1) == doctest::Approx(used * 12e9));
    CHECK(aggregation_rate(ports, group, 0.5) == doctest::Approx(used * 6e9));
  }
}

TEST_CASE("switch_aggregation: what a leaf added up passes its links once") {
  Cluster cluster = cluster_of(1, 12e9);
  cluster.network.leaf_nodes = 16;
  cluster.network.oversubscription = 4;
  cluster.network.aggregation.level_latency_ns = 5000;
  // One level, then two: 16 nodes have 4 links up, of which a tree takes one.
  CHECK(ns(cluster, 16) == doctest::Approx(buffer / 12e9 * 1e9 + 5000));
  CHECK(ns(cluster, 17) == doctest::Approx(buffer / 12e9 * 1e9 + 10000));
  cluster.network.oversubscription = 32;
  CHECK(aggregation_rate(cluster, place_alone(cluster, 17, 1), 1) == doctest::Approx(6e9));
}

TEST_CASE("switch_aggregation: nodes add up first, and the slower of the two counts") {
  Cluster cluster = cluster_of(8, 12e9);
  cluster.network.nics = 8;
  cluster.node_accelerators = 8;
  const double inside = ns(cluster, 1, buffer, 8);
  CHECK(ns(cluster, 16, buffer, 8) == doctest::Approx(std::max(inside, buffer / 96e9 * 1e9)));
  cluster.network.nic_bandwidth = cluster.network.aggregation.port_rate = 48e9;
  CHECK(inside > buffer / 384e9 * 1e9);
  CHECK(ns(cluster, 16, buffer, 8) == doctest::Approx(inside));
}

TEST_CASE("switch_aggregation: other collectives and sums inside a node are as without") {
  const Cluster rings = cluster_of(0, 0);
  const Cluster trees = cluster_of(1, 12e9);
  for (const CollectiveKind kind :
       {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_to_all}) {
    const foretrace::CollectiveCall call{kind, buffer, place_alone(rings, 64, 1)};
    CHECK(collective_time(trees, call).ns == collective_time(rings, call).ns);
  }
  CHECK(ns(trees, 1, 1e9, 8) == ns(rings, 1, 1e9, 8));
  CHECK(
      collective_time(trees, {CollectiveKind::all_reduce, 1e9, place_alone(trees, 64, 1)}).basis ==
      "aggregation in switches");
}

TEST_CASE("switch_aggregation: more bytes and more levels never take less time") {
  Cluster cluster = cluster_of(2, 10e9);
  cluster.network.leaf_nodes = 16;
  cluster.network.oversubscription = 2;
  cluster.network.aggregation.level_latency_ns = 2000;
  double last = 0;
  for (double bytes = 1e6; bytes < 1e11; bytes *= 1.7) {
    const double now = ns(cluster, 64, bytes);
    CHECK(now >= last);
    CHECK(now >= ns(cluster, 16, bytes));
    last = now;
  }
}
