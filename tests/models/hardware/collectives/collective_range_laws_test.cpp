// What is promised of every collective on every machine that ships.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/networks/cluster.h"
#include "models/hardware/networks/placement.h"
#include "tests/configs.h"

using namespace foretrace;

TEST_CASE(
    "collectives: a range holds its time, and of more bytes no figure is less, measured or not") {
  std::size_t asked = 0;
  for (const std::string& name : cluster_names(*test::shipped())) {
    CAPTURE(name);
    const auto cluster = find_cluster(*test::shipped(), name);
    REQUIRE_MESSAGE(cluster.ok(), cluster.error().message);
    for (const std::uint32_t nodes : {1U, 2U}) {
      const Ranged spread = collective_spread(*cluster, nodes);
      CHECK(spread.low > 0);
      CHECK(spread.low <= 1);
      CHECK(spread.high >= 1);
      CHECK(spread.high < 1e3);
    }
    for (const std::uint32_t nodes : {1U, 2U, 3U}) {
      if (nodes > cluster->nodes) continue;
      const std::uint32_t node = cluster->node_accelerators;
      if (nodes * node < 2) continue;
      const Placement group = place_alone(*cluster, nodes, node);
      for (std::size_t i = 1; i < collective_kind_count; ++i) {
        const auto kind = static_cast<CollectiveKind>(i);
        if (kind == CollectiveKind::barrier || kind == CollectiveKind::receive) continue;
        CAPTURE(to_string(kind));
        double last = 0;
        double last_shortest = 0;
        double last_longest = 0;
        for (double bytes = 1024; bytes < 1e10; bytes *= std::sqrt(2)) {
          CAPTURE(bytes);
          const CollectiveRange range = collective_range(*cluster, {kind, bytes, group});
          CHECK(range.time.ns > 0);
          CHECK(range.shortest_ns <= range.time.ns);
          CHECK(range.longest_ns >= range.time.ns);
          CHECK_FALSE(range.basis.empty());
          CHECK(range.time.ns >= last * (1 - 1e-12));
          last = range.time.ns;
          CHECK(range.shortest_ns >= last_shortest * (1 - 1e-12));
          CHECK(range.longest_ns >= last_longest * (1 - 1e-12));
          last_shortest = range.shortest_ns;
          last_longest = range.longest_ns;
          ++asked;
        }
      }
    }
  }
  CHECK(asked > 1000);
}

TEST_CASE("collectives: no sum is slower than the scattered sum and its gathering") {
  std::size_t asked = 0;
  for (const std::string& name : cluster_names(*test::shipped())) {
    const auto cluster = find_cluster(*test::shipped(), name);
    REQUIRE_MESSAGE(cluster.ok(), cluster.error().message);
    const auto has_curve = [&cluster](CollectiveKind kind) {
      return std::any_of(cluster->curves.begin(), cluster->curves.end(),
                         [kind](const MeasuredCurve& curve) { return curve.kind == kind; });
    };
    // What was measured of both is as it was.
    const double measured = has_curve(CollectiveKind::all_gather) ? 1.002 : 1;
    for (const std::uint32_t nodes : {1U, 2U, 3U, 4U, 8U, 16U}) {
      for (std::uint32_t per_node = 1; per_node <= cluster->node_accelerators; per_node *= 2) {
        if (nodes > cluster->nodes || nodes * per_node < 2) continue;
        const Placement group = place_alone(*cluster, nodes, per_node);
        for (double bytes = 1024; bytes < 1e11; bytes *= 2) {
          const auto ns = [&](CollectiveKind kind) {
            return collective_time(*cluster, {kind, bytes, group}).ns;
          };
          const double sum = ns(CollectiveKind::all_reduce);
          const double parts = ns(CollectiveKind::reduce_scatter) + ns(CollectiveKind::all_gather);
          CHECK_MESSAGE(sum <= parts * measured * (1 + 1e-9), name << ' ' << nodes << " x "
                                                                   << per_node << ", " << bytes
                                                                   << " bytes: " << sum / parts);
          ++asked;
        }
      }
    }
  }
  CHECK(asked > 10'000);
}

TEST_CASE("collectives: ranges are those of the evidence; without it the network's own") {
  auto cluster = *find_cluster(*test::shipped(), "dgx_h100");
  Evidence evidence;
  EvidenceKind& curves = evidence.kinds[static_cast<std::size_t>(MeasuredKind::large_curves)];
  curves.axes = axes_of(MeasuredKind::large_curves);
  curves.families = {{.first = "dgx_h100",
                      .second = "all_reduce",
                      .cells = 12,
                      .least_ranks = 2,
                      .most_ranks = 64,
                      .publishers = {},
                      .factor = {1, 0.5, 3}}};
  cluster.evidence = std::make_shared<const Evidence>(evidence);
  const Placement node = place_alone(cluster, 1, 8);
  const CollectiveCall large{CollectiveKind::all_reduce, 1e9, node};
  const CollectiveRange measured = collective_range(cluster, large);
  REQUIRE(measured.time.is_curve);
  CHECK(measured.shortest_ns == doctest::Approx(0.5 * measured.time.ns));
  CHECK(measured.longest_ns == doctest::Approx(3 * measured.time.ns));
  CHECK(measured.basis == "12 measured configurations of all_reduce on dgx_h100");
  CHECK(collective_spread(cluster, 1).high == doctest::Approx(3));
  // Where nothing was measured the network's own efficiency is the least.
  const CollectiveCall between{CollectiveKind::all_gather, 1e9, place_alone(cluster, 4, 8)};
  const CollectiveRange open = collective_range(cluster, between);
  CHECK(open.basis.find("no evidence") != std::string::npos);
  CHECK(open.longest_ns == collective_time(cluster, between, Bound::pessimistic).ns);
  cluster.evidence = nullptr;
  CHECK(collective_range(cluster, between).longest_ns == open.longest_ns);
  CHECK(collective_range(cluster, between).basis ==
        "efficiency of the network in the machine's file");
  CHECK(collective_range(cluster, large).longest_ns == measured.time.ns);
}
