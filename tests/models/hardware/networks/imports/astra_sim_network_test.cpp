#include <string>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/imported_file.h"
#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/networks/cluster_import.h"
#include "tests/configs.h"

using foretrace::Cluster;
using foretrace::cluster_import_of;
using foretrace::CollectiveKind;
using foretrace::GridAxis;
using foretrace::place;
using foretrace::Result;

namespace {

// 100 bytes per ns and 10: a GB/s of ASTRA-sim is 2^30 bytes per second.
const std::string two =
    "# a comment\n"
    "topology: [ Ring, Switch ]  # two dimensions\n"
    "npus_count: [ 4, 2 ]\n"
    "bandwidth: [ 93.132257461547852, 9.3132257461547852 ]\n"
    "latency: [ 50, 500 ]\n";
const std::string rings = R"({"all-reduce-implementation": ["ring", "ring"],
  "all-gather-implementation": ["ring", "direct"],
  "reduce-scatter-implementation": ["direct", "halvingDoubling"],
  "all-to-all-implementation": ["direct", "direct"],
  "collective-optimization": "localBWAware", "preferred-dataset-splits": 1,
  "scheduling-policy": "LIFO", "endpoint-delay": 10})";

Result<Cluster> read(const std::string& network, const std::string& system = {}) {
  auto file = foretrace::imported_text(network, "network.yml");
  if (!file.ok()) return file.error();
  if (!system.empty()) {
    auto with = foretrace::imported_text(system, "system.json");
    if (!with.ok()) return with.error();
    file->with.push_back(*with);
  }
  const auto* const import = cluster_import_of(*file);
  REQUIRE(import != nullptr);
  return import->read(*foretrace::test::shipped(), *file);
}

std::string error_of(const std::string& network, const std::string& system = {}) {
  const auto cluster = read(network, system);
  REQUIRE_FALSE(cluster.ok());
  return cluster.error().message;
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  REQUIRE(text.find(from) != std::string::npos);
  return text.replace(text.find(from), from.size(), to);
}

double ns(const Cluster& cluster, CollectiveKind kind, double bytes, const GridAxis& axis) {
  return foretrace::collective_time(cluster, {kind, bytes, place(cluster, axis)}).ns;
}

}  // namespace

TEST_CASE("astra-sim network: dimensions become tiers, accelerators are theirs multiplied") {
  const auto cluster = read(two);
  REQUIRE_MESSAGE(cluster.ok(), (cluster.ok() ? "" : cluster.error().message));
  CHECK(cluster->accelerators() == 8);
  CHECK(cluster->tier_network.tiers.size() == 2);
  CHECK(cluster->accelerator.name.empty());
  REQUIRE(cluster->notes.size() == 1);
  CHECK(cluster->notes[0].find("no system file") == 0);
}

TEST_CASE("astra-sim network: collectives take steps of latency and bytes in every dimension") {
  const auto cluster = read(two, rings);
  REQUIRE_MESSAGE(cluster.ok(), (cluster.ok() ? "" : cluster.error().message));
  // A ring of four: 2 x 3 steps of 50 ns + 4000 / 4 B / (100 B/ns) = 6 x 60.
  CHECK(ns(*cluster, CollectiveKind::all_reduce, 4000, {4, 1}) == doctest::Approx(360));
  // Over the switch alone: 2 x 1 steps of 2 x 500 ns + 2000 / 10.
  CHECK(ns(*cluster, CollectiveKind::all_reduce, 4000, {2, 4}) == doctest::Approx(2400));
  // All eight, scattered near (direct on the ring: 2 links of 50 ns; the fullest link carries the
  // message to the neighbour and half of that across, 1 + 1 = 2 of 1000 B: 120 ns), added up far
  // (2 x (1000 + 500 / 10)), gathered near (3 x (50 + 10)).
  CHECK(ns(*cluster, CollectiveKind::all_reduce, 4000, {8, 1}) ==
        doctest::Approx(120 + 2100 + 180));
  // Gathered near first: 3 x (50 + 500 / 100), then far, 2 x 500 + 2000 / 10.
  CHECK(ns(*cluster, CollectiveKind::all_gather, 4000, {8, 1}) == doctest::Approx(165 + 1200));
  // Half the ranks of the ring.
  CHECK(ns(*cluster, CollectiveKind::all_reduce, 4000, {2, 1}) == doctest::Approx(2 * (50 + 20)));
  CHECK(ns(*cluster, CollectiveKind::send, 4000, {2, 4}) == doctest::Approx(1000 + 400));
}

TEST_CASE("astra-sim network: chunks pay their latency each, and pass dimensions one by one") {
  const auto one =
      read(two, with(rings, "\"preferred-dataset-splits\": 1", "\"preferred-dataset-splits\": 4"));
  REQUIRE(one.ok());
  // Four chunks of 1000 B: 4 x 6 x (50 + 250 / 100).
  CHECK(ns(*one, CollectiveKind::all_reduce, 4000, {4, 1}) == doctest::Approx(4 * 315));
  // Two dimensions, all-gather: a chunk takes 3 x (50 + 1.25) near and 1000 + 50 far, which sets
  // the pace.
  CHECK(ns(*one, CollectiveKind::all_gather, 4000, {8, 1}) ==
        doctest::Approx(153.75 + 1050 + 3 * 1050));
}

TEST_CASE("astra-sim network: baseline adds up the whole buffer in every dimension") {
  const auto cluster = read(two, with(rings, "localBWAware", "baseline"));
  REQUIRE(cluster.ok());
  CHECK(ns(*cluster, CollectiveKind::all_reduce, 4000, {8, 1}) == doctest::Approx(360 + 2400));
}

TEST_CASE("astra-sim network: what is not taken is told") {
  const auto cluster = read(two, rings);
  REQUIRE(cluster.ok());
  REQUIRE(cluster->notes.size() == 1);
  CHECK(cluster->notes[0] == "ignored settings of the system: scheduling-policy, endpoint-delay");
}

TEST_CASE("astra-sim network: a mistake is one line with its place") {
  CHECK(error_of(with(two, "Ring", "Rnig")) ==
        "network.yml:2: topology: got 'Rnig' (did you mean 'Ring'?), expected one of Ring, "
        "FullyConnected, Switch");
  CHECK(error_of(with(two, "[ 4, 2 ]", "[ 4 ]")) ==
        "network.yml:3: npus_count: got 1 values, expected 2, as of topology");
  CHECK(error_of(with(two, "[ 4, 2 ]", "[ 4, 2.5 ]")) ==
        "network.yml:3: npus_count: got 2.5, expected a whole number");
  CHECK(error_of(with(two, "[ 50, 500 ]", "[ 50, -1 ]")) ==
        "network.yml:5: latency: got '-1', expected a number from 0 to 1e+12");
  CHECK(error_of(with(two, "latency", "latencies")).find("did you mean 'latency'?") !=
        std::string::npos);
  CHECK(error_of(two, with(rings, "[\"ring\", \"ring\"]", "[\"ring\"]")) ==
        "system.json: /all-reduce-implementation: got 1 algorithms, expected one for each of the 2 "
        "dimensions");
  CHECK(error_of(two, with(rings, "[\"ring\", \"direct\"]", "[\"ring\", \"dirct\"]"))
            .find("got 'dirct' (did you mean 'direct'?), expected one of ring, direct, "
                  "halvingDoubling") != std::string::npos);
  CHECK(error_of(two, with(rings, "[\"direct\", \"halvingDoubling\"]",
                           "[\"halvingDoubling\", \"ring\"]"))
            .find("'halvingDoubling' on a ring") != std::string::npos);
}
