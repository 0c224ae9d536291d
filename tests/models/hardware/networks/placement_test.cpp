#include "models/hardware/networks/placement.h"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

#include "models/jobs/parallelism/plan.h"

using foretrace::Axis;
using foretrace::axis_of;
using foretrace::Cluster;
using foretrace::GridAxis;
using foretrace::ParallelPlan;
using foretrace::place;
using foretrace::place_alone;
using foretrace::place_ranks;

namespace {

Cluster nodes_of_eight(std::uint32_t nics) {
  Cluster cluster;
  cluster.nodes = 16;
  cluster.node_accelerators = 8;
  cluster.network.nics = nics;
  cluster.network.nic_bandwidth = 25e9;
  return cluster;
}

/// Members of a group by node.
using Nodes = std::map<std::uint32_t, std::uint32_t>;

/// Where each group of an axis lies, found rank by rank: whoever has its place 0 along the axis
/// begins a group, if all of it is there.
std::vector<Nodes> groups_of(const GridAxis& axis, std::uint32_t node) {
  std::vector<Nodes> groups;
  for (std::uint32_t first = 0; first + (axis.size - 1) * axis.stride < axis.ranks; ++first) {
    if (first / axis.stride % axis.size != 0) continue;
    Nodes& nodes = groups.emplace_back();
    for (std::uint32_t i = 0; i < axis.size; ++i) ++nodes[(first + i * axis.stride) / node];
  }
  return groups;
}

std::vector<GridAxis> axes_of(const ParallelPlan& plan) {
  std::vector<GridAxis> axes = {shard_axis(plan), replica_axis(plan), expert_copies(plan)};
  for (const Axis axis : {Axis::tensor, Axis::context, Axis::expert, Axis::data, Axis::pipeline}) {
    axes.push_back(axis_of(plan, axis));
  }
  if (plan.pipeline > 1) axes.push_back(axis_of(plan, Axis::embedding));
  return axes;
}

/// Any grid of up to a few hundred ranks.
ParallelPlan random_plan(std::mt19937& random) {
  const auto one_of = [&random](std::initializer_list<std::uint32_t> sizes) {
    return sizes.begin()[random() % sizes.size()];
  };
  ParallelPlan plan;
  plan.tensor = one_of({1, 1, 2, 3, 4, 5, 6, 8, 12});
  plan.context = one_of({1, 1, 1, 2, 3, 4});
  plan.data = one_of({1, 1, 2, 3, 4, 5, 7, 8, 16});
  plan.pipeline = one_of({1, 1, 2, 3, 4, 7, 8});
  for (const std::uint32_t expert : {2U, 3U, 4U, 8U}) {
    if (plan.copies() % expert == 0 && random() % 2 == 0) plan.expert = expert;
  }
  if (plan.expert > 1 && random() % 2 == 0) plan.expert_tensor = plan.tensor;
  if (plan.copies() % 2 == 0 && random() % 2 == 0) plan.shard_size = plan.copies() / 2;
  return plan;
}

}  // namespace

TEST_CASE("placement: a group lies where its ranks lie, and the one over most nodes counts") {
  std::mt19937 random(30);
  for (int i = 0; i < 2000; ++i) {
    const ParallelPlan plan = random_plan(random);
    Cluster cluster = nodes_of_eight(4);
    cluster.node_accelerators = std::array{1U, 2U, 3U, 4U, 6U, 8U, 8U, 16U, 72U}[random() % 9];
    for (const GridAxis& axis : axes_of(plan)) {
      CAPTURE(axis.size);
      CAPTURE(axis.stride);
      CAPTURE(axis.ranks);
      CAPTURE(cluster.node_accelerators);
      std::size_t nodes = 0;
      std::uint32_t together = 0;
      for (const Nodes& group : groups_of(axis, cluster.node_accelerators)) {
        nodes = std::max(nodes, group.size());
        for (const auto& [node, members] : group) together = std::max(together, members);
      }
      const auto placement = place(cluster, axis);
      REQUIRE(placement.nodes == nodes);
      REQUIRE(placement.ranks == axis.size);
      if (axis.size % nodes == 0) {
        REQUIRE(placement.per_node == axis.size / nodes);
      } else {
        REQUIRE(placement.per_node > axis.size / nodes);
        REQUIRE(placement.per_node <= together);
      }
      // Nobody has more of the network than there is.
      REQUIRE((placement.nics > 0) == (nodes > 1));
      REQUIRE(placement.nics <= 4);
    }
  }
}

TEST_CASE("placement: the ends of a pipeline in one node have it between them, farther ones not") {
  const Cluster cluster = nodes_of_eight(1);
  const auto ends = [&](std::uint32_t stages, std::uint32_t data) {
    ParallelPlan plan;
    plan.pipeline = stages;
    plan.data = data;
    return place(cluster, axis_of(plan, Axis::embedding));
  };
  CHECK(ends(8, 1).nodes == 1);
  CHECK(ends(8, 1).nics == 0);
  CHECK(ends(4, 2).nodes == 1);
  // Ranks 0 and 8: nobody else uses the port of either node.
  CHECK(ends(9, 1).nodes == 2);
  CHECK(ends(9, 1).nics == doctest::Approx(1));
  // Four pairs share it.
  CHECK(ends(4, 4).nodes == 2);
  CHECK(ends(4, 4).nics == doctest::Approx(0.25));
}

TEST_CASE("placement: of groups that lie differently the one on two nodes counts") {
  // Threes on nodes of eight: 0 to 2 and 3 to 5 inside one, 6 to 8 not.
  CHECK(place(nodes_of_eight(8), {3, 1, 6}).nodes == 1);
  CHECK(place(nodes_of_eight(8), {3, 1, 9}).nodes == 2);
  // 0, 3, 6 | 9 and 2, 5 | 8, 11: the second one, with two each.
  CHECK(place(nodes_of_eight(8), {4, 3, 12}).nodes == 2);
  CHECK(place(nodes_of_eight(8), {4, 3, 12}).per_node == 2);
}

TEST_CASE("placement: tiers hold as many of a group as lie in one of them") {
  Cluster cluster;
  cluster.tier_network.tiers = {{.size = 8}, {.size = 4}};
  cluster.nodes = 4;
  cluster.node_accelerators = 8;
  // The ends of a pipeline of eight: both in the first tier.
  CHECK(place(cluster, {2, 7, 8}).tier_ranks == std::array{2U, 1U, 1U, 1U, 1U});
  CHECK(place(cluster, {2, 15, 16}).tier_ranks == std::array{1U, 2U, 1U, 1U, 1U});
  CHECK(place(cluster, {8, 4, 32}).tier_ranks == std::array{2U, 4U, 1U, 1U, 1U});
  CHECK(place(cluster, {6, 1, 6}).tier_ranks == std::array{6U, 1U, 1U, 1U, 1U});
  CHECK(place(cluster, {6, 1, 12}).tier_ranks == std::array{6U, 2U, 1U, 1U, 1U});
}

TEST_CASE("placement: neighbours share a node, ranks eight apart do not") {
  const Cluster cluster = nodes_of_eight(8);
  const auto tensor = place(cluster, {8, 1});
  CHECK(tensor.nodes == 1);
  CHECK(tensor.per_node == 8);
  const auto data = place(cluster, {16, 8});
  CHECK(data.nodes == 16);
  CHECK(data.per_node == 1);
  CHECK(data.nics == doctest::Approx(1));
}

TEST_CASE("placement: groups that share a node share its network ports") {
  // Tensor groups of 4: two data groups per node, each with two ranks and half of the four ports.
  const auto data = place(nodes_of_eight(4), {8, 4});
  CHECK(data.per_node == 2);
  CHECK(data.nodes == 4);
  CHECK(data.nics == doctest::Approx(1));
}

TEST_CASE("placement: a benchmark has the ports of its accelerators to itself") {
  const auto alone = place_alone(nodes_of_eight(4), 2, 1);
  CHECK(alone.ranks == 2);
  CHECK(alone.nics == doctest::Approx(1));
  CHECK(place_alone(nodes_of_eight(4), 2, 8).nics == doctest::Approx(4));
}

TEST_CASE("placement: above the leaves links are shared by as many as the file says") {
  Cluster cluster = nodes_of_eight(8);
  cluster.network.leaf_nodes = 4;
  cluster.network.oversubscription = 2;
  CHECK(place(cluster, {32, 1}).oversubscription == 1);
  CHECK(place(cluster, {64, 1}).oversubscription == 2);
}

TEST_CASE("placement: a group takes as few nodes as can be, however odd it is") {
  const Cluster cluster = nodes_of_eight(8);
  CHECK(place(cluster, {9, 1}).nodes == 2);
  const auto even = place(cluster, {10, 1});
  CHECK(even.nodes == 2);
  CHECK(even.per_node == 5);
  const auto odd = place(cluster, {17, 1});
  CHECK(odd.nodes == 3);
  CHECK(odd.per_node == 8);
  for (std::uint32_t size = 2; size <= 128; ++size) {
    CAPTURE(size);
    CHECK(place(cluster, {size, 1}).nodes == (size + 7) / 8);
  }
}

TEST_CASE("placement: ranks of a list lie where an axis has them, or on the nodes that they name") {
  const Cluster cluster = nodes_of_eight(8);
  CHECK(place_ranks(cluster, std::array{0, 8, 16, 24}) == place(cluster, {4, 8}));
  CHECK(place_ranks(cluster, std::array{4, 5, 6, 7}) == place(cluster, {4, 1}));
  CHECK(place_ranks(cluster, std::array{3}).ranks == 1);
  // Neighbours on both sides of the border of a node: two of eight ports each.
  const auto across = place_ranks(cluster, std::array{6, 7, 8, 9});
  CHECK(across.nodes == 2);
  CHECK(across.per_node == 2);
  CHECK(across.nics == doctest::Approx(2));
  const auto uneven = place_ranks(cluster, std::array{0, 1, 2, 40});
  CHECK(uneven.nodes == 2);
  CHECK(uneven.ranks == 4);
}

TEST_CASE("placement: a group of nobody has no place") {
  const Cluster cluster = nodes_of_eight(8);
  CHECK_THROWS_AS(static_cast<void>(place(cluster, {0, 1})), std::logic_error);
  CHECK_THROWS_AS(static_cast<void>(place_alone(cluster, 0, 8)), std::logic_error);
  CHECK_THROWS_AS(static_cast<void>(place_alone(cluster, 2, 0)), std::logic_error);
}
