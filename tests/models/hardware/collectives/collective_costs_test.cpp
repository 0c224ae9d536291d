#include "models/hardware/collectives/collective_costs.h"

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/accelerator.h"
#include "models/hardware/collectives/measured_curve.h"
#include "models/hardware/collectives/nccl_model.h"
#include "tests/configs.h"

using foretrace::Cluster;
using foretrace::collective_time;
using foretrace::CollectiveCall;
using foretrace::CollectiveKind;
using foretrace::curve_ns;
using foretrace::find_cluster;
using foretrace::MeasuredCurve;
using foretrace::NodeLinks;
using foretrace::place_alone;
using foretrace::Placement;
using foretrace::sent_bytes;

namespace {

Cluster selene() {
  auto cluster = find_cluster(*foretrace::test::shipped(), "selene");
  REQUIRE_MESSAGE(cluster.ok(), cluster.error().message);
  return std::move(*cluster);
}

double ns(const Cluster& cluster, CollectiveKind kind, double bytes, std::uint32_t nodes,
          std::uint32_t per_node) {
  return collective_time(cluster, {kind, bytes, place_alone(cluster, nodes, per_node)}).ns;
}

}  // namespace

TEST_CASE("collectives: a rank sends 2 (n - 1) / n of the buffer in an all-reduce") {
  CollectiveCall call;
  call.bytes = 800;
  call.group.ranks = 8;
  CHECK(sent_bytes(call) == doctest::Approx(1400));
  call.kind = CollectiveKind::all_gather;
  CHECK(sent_bytes(call) == doctest::Approx(700));
  call.kind = CollectiveKind::send;
  CHECK(sent_bytes(call) == doctest::Approx(800));
}

TEST_CASE("collectives: more bytes never take less time, whatever the group") {
  const Cluster cluster = selene();
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::all_to_all,
        CollectiveKind::reduce_scatter, CollectiveKind::send}) {
    for (const std::uint32_t nodes : {1U, 2U, 3U, 16U}) {
      for (const std::uint32_t per_node : {1U, 2U, 8U}) {
        if (nodes * per_node == 1) continue;
        double last = 0;
        for (double bytes = 8; bytes < 1e10; bytes *= 1.7) {
          const double now = ns(cluster, kind, bytes, nodes, per_node);
          CAPTURE(to_string(kind));
          CAPTURE(nodes);
          CAPTURE(per_node);
          CAPTURE(bytes);
          // The tree's bandwidth has steps by size in NCCL's table: up to a tenth.
          CHECK(now >= 0.9 * last);
          last = now;
        }
      }
    }
  }
}

TEST_CASE("collectives: no large collective is faster than the links of its ranks allow") {
  const Cluster cluster = selene();
  constexpr double bytes = 8e9;
  for (const std::uint32_t nodes : {1U, 2U, 4U, 16U}) {
    const double all = ns(cluster, CollectiveKind::all_gather, bytes, nodes, 8);
    // Through the node's ports: what the others have.
    const double network = nodes > 1 ? bytes * (nodes - 1) / nodes / (8 * 25e9) * 1e9 : 0;
    const double links = bytes * (8. * nodes - 1) / (8. * nodes) / 300e9 * 1e9;
    CHECK(all >= network);
    CHECK((nodes > 1 || all >= links));
  }
}

TEST_CASE("collectives: NCCL's search finds the channels that its authors print") {
  const Cluster cluster = selene();
  // One A100 node: 12 channels of 20 GB/s; eight HDR ports: 8 channels of 24 GB/s.
  const auto inside = foretrace::nccl::find_channels(cluster, place_alone(cluster, 1, 8));
  CHECK(inside.count == doctest::Approx(12));
  CHECK(inside.ring == doctest::Approx(20));
  const auto between = foretrace::nccl::find_channels(cluster, place_alone(cluster, 4, 8));
  CHECK(between.count == doctest::Approx(8));
  CHECK(between.ring == doctest::Approx(24));
  CHECK(between.tree_inside == doctest::Approx(30));
}

TEST_CASE("collectives: a curve gives its points back, and its rate beyond the last") {
  MeasuredCurve curve;
  curve.bytes = {1024, 4096, 1 << 20};
  curve.ns = {10000, 20000, 100000};
  CHECK(curve_ns(curve, 1) == doctest::Approx(10000));
  CHECK(curve_ns(curve, 4096) == doctest::Approx(20000));
  // Half way by the logarithm: the geometric mean.
  CHECK(curve_ns(curve, 2048) == doctest::Approx(std::sqrt(10000. * 20000)));
  CHECK(curve_ns(curve, 2 << 20) == doctest::Approx(200000));
}

TEST_CASE("collectives: beyond a curve that was cut off, times grow as those that were measured") {
  // Rates at 64 MiB, kept for 2 GiB, were 5 to 48 % too slow.
  for (const char* const name : {"dgx_h100", "a100_x4", "azure_ndv4", "mi300x_x8", "vtrain_a100"}) {
    const Cluster whole = find_cluster(*foretrace::test::shipped(), name).value();
    Cluster cut = whole;
    std::erase_if(cut.curves, [&](const MeasuredCurve& curve) {
      return curve.kind != CollectiveKind::all_reduce || curve.nodes > 1;
    });
    REQUIRE_FALSE(cut.curves.empty());
    for (MeasuredCurve& curve : cut.curves) {
      const double last = std::min(2. * (1 << 30), curve.bytes.back());
      while (curve.bytes.back() > 64 << 20) {
        curve.bytes.pop_back();
        curve.ns.pop_back();
      }
      CAPTURE(name);
      CAPTURE(curve.ranks);
      const double measured = ns(whole, CollectiveKind::all_reduce, last, 1, curve.ranks);
      CHECK(ns(cut, CollectiveKind::all_reduce, last, 1, curve.ranks) ==
            doctest::Approx(measured).epsilon(0.1));
    }
  }
}

TEST_CASE("collectives: where measured times fall with the size, what fell has one mean") {
  MeasuredCurve curve;
  curve.bytes = {1024, 2048, 4096, 8192};
  curve.ns = {10000, 40000, 20000, 90000};
  const double mean = std::sqrt(40000. * 20000);
  CHECK(curve_ns(curve, 1024) == doctest::Approx(10000));
  CHECK(curve_ns(curve, 2048) == doctest::Approx(mean));
  CHECK(curve_ns(curve, 3000) == doctest::Approx(mean));
  CHECK(curve_ns(curve, 4096) == doctest::Approx(mean));
  CHECK(curve_ns(curve, 8192) == doctest::Approx(90000));
}

TEST_CASE("collectives: groups that share ports are slower than one that has them alone") {
  const Cluster cluster = selene();
  // Eight data groups of one rank per node share eight ports: as fast as one rank alone per node.
  const double shared = collective_time(cluster, {CollectiveKind::all_reduce, 1e9,
                                                  foretrace::place(cluster, {16, 8})})
                            .ns;
  CHECK(shared == doctest::Approx(ns(cluster, CollectiveKind::all_reduce, 1e9, 16, 1)));
  CHECK(shared > 5 * ns(cluster, CollectiveKind::all_reduce, 1e9, 16, 8));
}

TEST_CASE("collectives: no bus is faster than the links, on any shipped machine") {
  for (const std::string& name : foretrace::cluster_names(*foretrace::test::shipped())) {
    const Cluster cluster = find_cluster(*foretrace::test::shipped(), name).value();
    if (!cluster.tier_network.tiers.empty() || cluster.node_accelerators < 2) continue;
    for (const CollectiveKind kind :
         {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_to_all,
          CollectiveKind::broadcast, CollectiveKind::send}) {
      for (std::uint32_t n = 2; n <= cluster.node_accelerators; ++n) {
        for (double bytes = 1 << 20; bytes < 2e11; bytes *= 5) {
          const CollectiveCall call = {kind, bytes, place_alone(cluster, 1, n)};
          CAPTURE(name);
          CAPTURE(to_string(kind));
          CAPTURE(n);
          CAPTURE(bytes);
          CHECK(sent_bytes(call) / collective_time(cluster, call).ns * 1e9 <=
                cluster.link_bandwidth);
        }
      }
    }
  }
}

TEST_CASE("collectives: racks that are joined have no faster bus than one of them") {
  // What the switches of a rack add up passes the links of an accelerator once up and once down.
  const Cluster racks = find_cluster(*foretrace::test::shipped(), "gb200_nvl72").value();
  for (const std::uint32_t nodes : {2U, 3U, 20U}) {
    const CollectiveCall call = {CollectiveKind::all_reduce, 1.6e10, place_alone(racks, nodes, 72)};
    const double ns_taken = collective_time(racks, call).ns;
    CHECK(call.bytes / ns_taken * 1e9 <= racks.link_bandwidth);
    CHECK(ns_taken > ns(racks, CollectiveKind::all_reduce, 1.6e10, 1, 72) * 0.75);
  }
}

TEST_CASE("collectives: a gather has the rate of the ring, whatever sums the switch makes") {
  // nccl-tests of 8 H100, 8 GiB: 21.0 ms for an all-gather, 31.2 ms for an all-reduce that the
  // switches add up. Half of the latter would be 481 GB/s over links of 450.
  const Cluster cluster = find_cluster(*foretrace::test::shipped(), "dgx_h100").value();
  constexpr double bytes = 8. * (1 << 30);
  const double gathered = ns(cluster, CollectiveKind::all_gather, bytes, 1, 8);
  CHECK(gathered == doctest::Approx(bytes * 7 / 8 / 363).epsilon(0.01));
  CHECK(gathered == ns(cluster, CollectiveKind::reduce_scatter, bytes, 1, 8));
  CHECK(gathered > 1.2 * ns(cluster, CollectiveKind::all_reduce, bytes, 1, 8) / 2);
}

TEST_CASE("collectives: links that are not NVLink have the rate of their data sheet") {
  Cluster cluster = find_cluster(*foretrace::test::shipped(), "mi300x_x8").value();
  const auto channels = foretrace::nccl::find_channels(cluster, place_alone(cluster, 2, 8));
  CHECK(channels.count * channels.ring == doctest::Approx(8 * 50));  // all of its ports
  cluster.regimes.clear();
  const auto inside = foretrace::nccl::find_channels(cluster, place_alone(cluster, 1, 8));
  CHECK(inside.count * inside.ring == doctest::Approx(448));
}

namespace {

/// ns of a collective that nothing measured of this machine answers.
double ns_of_model(Cluster cluster, CollectiveKind kind, double bytes, const Placement& group) {
  cluster.curves.clear();
  return collective_time(cluster, {kind, bytes, group}).ns;
}

}  // namespace

TEST_CASE("collectives: pairs that bridges join reach other pairs through their host") {
  const auto cluster = *find_cluster(*foretrace::test::shipped(), "vidur_pairwise_a100");
  REQUIRE(cluster.links == NodeLinks::pairs);
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
    CAPTURE(to_string(kind));
    const Placement pair = place_alone(cluster, 1, 2);
    const Placement both = place_alone(cluster, 1, 4);
    const double sent = sent_bytes({kind, 1e9, both});
    CHECK(ns_of_model(cluster, kind, 1e9, both) > sent / cluster.host_link_bandwidth * 1e9);
    CHECK(ns_of_model(cluster, kind, 1e9, pair) <
          sent_bytes({kind, 1e9, pair}) / cluster.host_link_bandwidth * 1e9);
  }
}

TEST_CASE("collectives: each rank on another node costs an all-to-all a message of its proxy") {
  for (const char* const name : {"polaris", "dgx_h100", "aws_p4de"}) {
    CAPTURE(name);
    const auto cluster = *find_cluster(*foretrace::test::shipped(), name);
    double last = 0;
    for (std::uint32_t nodes = 2; nodes <= cluster.nodes; nodes *= 2) {
      const Placement group = place_alone(cluster, nodes, cluster.node_accelerators);
      const double ns = ns_of_model(cluster, CollectiveKind::all_to_all, 4096, group);
      const double peers = group.ranks - group.per_node;
      CHECK(ns >= last);
      CHECK(ns >= 0.2 * peers * cluster.network.step_latency_ns);
      last = ns;
    }
  }
}

TEST_CASE("collectives: a peer on another node has two channels, one among many ranks") {
  const auto cluster = *find_cluster(*foretrace::test::shipped(), "dgx_h100");
  const auto rate = [&](std::uint32_t nodes, std::uint32_t per_node) {
    const Placement group = place_alone(cluster, nodes, per_node);
    return 1e18 / (ns_of_model(cluster, CollectiveKind::send_receive, 2e9, group) -
                   ns_of_model(cluster, CollectiveKind::send_receive, 1e9, group));
  };
  CHECK(rate(8, 8) == doctest::Approx(36.6e9).epsilon(1e-3));
  CHECK(rate(16, 8) == doctest::Approx(18.3e9).epsilon(1e-3));
  // No more than a port: 12.5 GB/s of 0.9 on a DGX-1.
  const auto slow = *find_cluster(*foretrace::test::shipped(), "dgx1_v100");
  const Placement group = place_alone(slow, 2, 1);
  CHECK(ns_of_model(slow, CollectiveKind::send, 1e9, group) >
        1e9 / slow.network.nic_bandwidth * 1e9);
}

TEST_CASE(
    "collectives: a short send goes by LL, a longer one by Simple, inside and between nodes") {
  const auto cluster = *find_cluster(*foretrace::test::shipped(), "dgx_h100");
  // NCCL's own: 6.6 + 0.6 us of LL, 8.4 + 3.4 of Simple; between nodes 2.7 and 14, with 8 of the
  // fabric.
  const auto us = [&](std::uint32_t nodes, double bytes) {
    return ns_of_model(cluster, CollectiveKind::send, bytes,
                       place_alone(cluster, nodes, 2 / nodes)) *
           1e-3;
  };
  CHECK(us(1, 1024) == doctest::Approx(7.2).epsilon(0.01));
  CHECK(us(1, 17000) == doctest::Approx(11.8).epsilon(0.01));
  CHECK(us(2, 1024) == doctest::Approx(17.3).epsilon(0.01));
  CHECK(us(2, 17000) == doctest::Approx(30.4).epsilon(0.02));
}

TEST_CASE(
    "collectives: inside a node a message has its share of the channels, twice for parts above 16 "
    "MiB") {
  const auto cluster = *find_cluster(*foretrace::test::shipped(), "dgx_h100");
  constexpr double mib = 1024 * 1024;
  const auto us = [&](std::uint32_t ranks, double bytes) {
    return ns_of_model(cluster, CollectiveKind::send_receive, bytes,
                       place_alone(cluster, 1, ranks)) *
           1e-3;
  };
  // Of 32 channels of 20.6 GB/s eight ranks have four each, four ranks eight.
  CHECK(us(8, 32 * mib) == doctest::Approx(11.8 + 32 * mib / 4 / 20.6e3).epsilon(1e-3));
  CHECK(us(4, 32 * mib) == doctest::Approx(11.8 + 32 * mib / 8 / 20.6e3).epsilon(1e-3));
  // Above 64 MiB these are eight, which are done with 128 MiB no sooner.
  CHECK(us(8, 128 * mib) == doctest::Approx(us(8, 64 * mib)).epsilon(1e-3));
  CHECK(us(8, 65 * mib) == doctest::Approx(us(8, 64 * mib)).epsilon(1e-3));
  // Where nothing comes back the links bound it.
  CHECK(ns_of_model(cluster, CollectiveKind::send, 32 * mib, place_alone(cluster, 1, 8)) * 1e-3 ==
        doctest::Approx(11.8 + 32 * mib / (0.85 * 450e3)).epsilon(1e-3));
}

TEST_CASE("collectives: the latency of a step of a ring hides behind half of a large chunk") {
  // One port of each of ten nodes: 18 steps of a tenth of the buffer.
  auto cluster = *find_cluster(*foretrace::test::shipped(), "dgx_h100");
  cluster.network.efficiency = {1, 1, 1};
  const Placement group = place_alone(cluster, 10, 1);
  const auto us = [&](double latency_ns, double bytes) {
    cluster.network.step_latency_ns = latency_ns;
    return ns_of_model(cluster, CollectiveKind::all_gather, bytes, group) * 1e-3;
  };
  // 128 MiB: a chunk of 2 MiB over half a port of 48 GB/s takes 87 us, half of it 44.
  const double large = 128.0 * 1024 * 1024;
  const double hidden = us(10e3, large) - us(0, large);
  CHECK(hidden == doctest::Approx(2 * 10).epsilon(0.05));  // once, not nine times
  // 32 us of the network and 14 of NCCL's own no longer fit behind 44.
  CHECK(us(32e3, large) - us(10e3, large) > 2 * 22 * 1.5);
  // Of a small one every step waits.
  const double small = 1024 * 1024;
  CHECK(us(10e3, small) - us(0, small) >= doctest::Approx(9 * 10).epsilon(0.2));
}

TEST_CASE(
    "collectives: the first chunk passes both switches and the tree before others overlap with "
    "it") {
  auto cluster = *find_cluster(*foretrace::test::shipped(), "dgx_h100");
  const auto us = [&](std::uint32_t nodes, double bytes) {
    return ns_of_model(cluster, CollectiveKind::all_reduce, bytes, place_alone(cluster, nodes, 8)) *
           1e-3;
  };
  constexpr double mib = 1024 * 1024;
  // Two nodes: three stages wait for 128 chunks of 128 KiB, from 64 MiB on.
  const double per_mib = (us(2, 2048 * mib) - us(2, 1024 * mib)) / 1024;
  const double start = us(2, 1024 * mib) - 1024 * per_mib;
  CHECK(start == doctest::Approx(48 * per_mib + 25 + 2 * 28.9).epsilon(1e-3));
  // Ten: seven stages wait for chunks of 64 KiB.
  const auto chosen = [&](double bytes) {
    return foretrace::nccl::fastest(cluster, place_alone(cluster, 10, 8),
                                    CollectiveKind::all_reduce, bytes, 1);
  };
  REQUIRE(chosen(256 * mib).algorithm == foretrace::nccl::Algorithm::nvls_tree);
  REQUIRE(chosen(200 * mib).algorithm == foretrace::nccl::Algorithm::nvls_tree);
  const double each = (chosen(256 * mib).ns - chosen(200 * mib).ns) / 56;
  CHECK(chosen(256 * mib).ns ==
        doctest::Approx((256 + 8 * 7) * each + 25e3 + 6 * 28.9e3).epsilon(1e-3));
  // The plugin of EFA allows four times the chunk.
  cluster.network.kind = "efa";
  const double efa = us(2, 2048 * mib);
  cluster.network.kind = "infiniband";
  CHECK(efa > us(2, 2048 * mib) * 1.02);
}
