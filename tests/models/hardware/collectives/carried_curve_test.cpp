#include "models/hardware/collectives/carried_curve.h"

#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "tests/configs.h"

using namespace foretrace;

namespace {

constexpr double step_ns = 30e3;
constexpr double rate = 20;  // bytes per ns

/// n - 1 steps of one message, each with a latency.
double stepped(double bytes, double nodes, double per_node) {
  return 5e3 + (nodes - 1) * (step_ns + bytes / (nodes * per_node) / rate);
}

Cluster measured_cluster(CollectiveKind kind, double (*ns)(double, double, double)) {
  Cluster cluster = find_cluster(*foretrace::test::shipped(), "polaris").value();
  cluster.curves.clear();
  for (const std::uint32_t nodes : {2U, 8U}) {
    MeasuredCurve curve;
    curve.kind = kind;
    curve.nodes = nodes;
    curve.ranks = 4 * nodes;
    for (double bytes = 1024; bytes < 1e10; bytes *= 2) {
      curve.bytes.push_back(bytes);
      curve.ns.push_back(ns(bytes, nodes, 4));
    }
    cluster.curves.push_back(curve);
  }
  return cluster;
}

CollectiveTime time_of(const Cluster& cluster, CollectiveKind kind, double bytes,
                       std::uint32_t nodes) {
  return collective_time(cluster, {kind, bytes, place_alone(cluster, nodes, 4)});
}

}  // namespace

TEST_CASE("carried curves: steps of messages go on as they were measured") {
  for (const CollectiveKind kind :
       {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_to_all}) {
    const Cluster cluster = measured_cluster(kind, stepped);
    for (const std::uint32_t nodes : {16U, 128U, 540U}) {
      for (double bytes = 1 << 20; bytes < 1e10; bytes *= 8) {
        const CollectiveTime time = time_of(cluster, kind, bytes, nodes);
        CHECK(time.basis == "curves of fewer nodes, carried");
        CHECK(time.ns == doctest::Approx(stepped(bytes, nodes, 4)).epsilon(0.03));
      }
    }
  }
}

TEST_CASE("carried curves: an all-reduce takes the tree where a ring has too many steps") {
  const auto levelled = [](double bytes, double nodes, double) {
    return 5e3 + std::floor(std::log2(nodes)) * step_ns + 2 * bytes / rate;
  };
  const Cluster cluster = measured_cluster(CollectiveKind::all_reduce, levelled);
  for (const std::uint32_t nodes : {64U, 512U}) {
    for (double bytes = 4096; bytes < 1e10; bytes *= 8) {
      const double ns = time_of(cluster, CollectiveKind::all_reduce, bytes, nodes).ns;
      CHECK(ns == doctest::Approx(levelled(bytes, nodes, 4)).epsilon(0.01));
    }
  }
}

TEST_CASE("carried curves: they are for their own kind, shape of node, and a network alone") {
  const Cluster cluster = measured_cluster(CollectiveKind::all_gather, stepped);
  const auto basis = [&](CollectiveKind kind, const Placement& group) {
    return collective_time(cluster, {kind, 1e8, group}).basis;
  };
  const auto carried = basis(CollectiveKind::all_gather, place_alone(cluster, 64, 4));
  CHECK(carried == "curves of fewer nodes, carried");
  CHECK(basis(CollectiveKind::reduce_scatter, place_alone(cluster, 64, 4)) != carried);
  CHECK(basis(CollectiveKind::all_gather, place_alone(cluster, 64, 2)) != carried);
  CHECK(basis(CollectiveKind::all_gather, place(cluster, {64, 4})) != carried);
  CHECK(basis(CollectiveKind::all_gather, place_alone(cluster, 8, 4)) == "measured curve");
  CHECK(basis(CollectiveKind::all_gather, place_alone(cluster, 4, 4)) != "measured curve");
}

TEST_CASE("carried curves: one node count says nothing about others") {
  Cluster cluster = measured_cluster(CollectiveKind::all_gather, stepped);
  cluster.curves.pop_back();
  CHECK(time_of(cluster, CollectiveKind::all_gather, 1e8, 64).basis == "ring");
}

TEST_CASE("carried curves: no buffer costs more than a larger one") {
  std::size_t carried = 0;
  for (const std::string& name : cluster_names(*foretrace::test::shipped())) {
    const Cluster cluster = find_cluster(*foretrace::test::shipped(), name).value();
    for (std::size_t i = 1; i < collective_kind_count; ++i) {
      const auto kind = static_cast<CollectiveKind>(i);
      for (std::uint32_t nodes = 2; nodes <= cluster.nodes; nodes *= 2) {
        double last = 0;
        for (double bytes = 256; bytes < 1e10; bytes *= 2) {
          const CollectiveCall call{kind, bytes,
                                    place_alone(cluster, nodes, cluster.node_accelerators)};
          const auto time = carried_time(cluster, call);
          if (!time) continue;
          ++carried;
          CHECK_MESSAGE(time->ns >= last * (1 - 1e-9),
                        cluster.name << ' ' << to_string(kind) << ' ' << nodes << ' ' << bytes);
          last = time->ns;
        }
      }
    }
  }
  CHECK(carried > 500);
}
