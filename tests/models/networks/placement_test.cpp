#include "models/networks/placement.h"

#include <array>
#include <stdexcept>

#include <doctest/doctest.h>

using foretrace::Cluster;
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

}  // namespace

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
