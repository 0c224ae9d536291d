#include "models/hardware/networks/lanes.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/networks/cluster.h"
#include "tests/configs.h"

using namespace foretrace;

namespace {

Cluster shipped_cluster(std::string_view name) {
  auto cluster = find_cluster(*foretrace::test::shipped(), name);
  REQUIRE_MESSAGE(cluster.ok(), cluster.error().message);
  return *std::move(cluster);
}

std::string lane_error(const std::string& lanes) {
  const std::string text =
      R"({"schema": "foretrace.cluster/1", "machine": "m", "accelerator": "v100_sxm2_16gb",
          "generation": "volta", "nodes": 1,
          "node": {"accelerators": 4, "links": "mesh", "link_bandwidth": "150 GB/s", )" +
      lanes + R"(}, "sources": {"nodes": "a", "node": "b"}})";
  const auto cluster = parse_cluster(*foretrace::test::shipped(), text, "m.json");
  return cluster.ok() ? std::string() : cluster.error().message;
}

}  // namespace

TEST_CASE("lanes: rings through the first accelerators of a DGX-1 are those that were measured") {
  // vTrain's NCCL tests of one node: 22.6, 45.1, 85.4, 45.7, 87.0 and 134.5 GB/s.
  const Cluster dgx1 = shipped_cluster("dgx1_v100");
  constexpr double lane = 22.5e9;
  REQUIRE(dgx1.ring_rates.size() == 9);
  CHECK(dgx1.ring_rates[0] == 0);
  CHECK(dgx1.ring_rates[1] == 0);
  CHECK(dgx1.ring_rates[2] == lane);
  CHECK(dgx1.ring_rates[3] == 2 * lane);
  CHECK(dgx1.ring_rates[4] == 4 * lane);
  CHECK(dgx1.ring_rates[6] == 2 * lane);
  CHECK(dgx1.ring_rates[7] == 4 * lane);
  CHECK(dgx1.ring_rates[8] == 6 * lane);
  // No ring goes through five: the last is passed there and back (37.2 GB/s were measured).
  CHECK(dgx1.ring_rates[5] == 2 * lane);
}

TEST_CASE("lanes: a large all-reduce has the bus of the rings, not of all links") {
  const Cluster dgx1 = shipped_cluster("dgx1_v100");
  constexpr double bytes = 1 << 30;
  for (const std::uint32_t n : {2U, 3U, 4U, 6U, 7U, 8U}) {
    const CollectiveCall call = {CollectiveKind::all_reduce, bytes, place_alone(dgx1, 1, n)};
    const double bus = sent_bytes(call) / collective_time(dgx1, call).ns * 1e9;
    CAPTURE(n);
    CHECK(bus == doctest::Approx(dgx1.ring_rates[n]).epsilon(0.02));
    CHECK(bus <= dgx1.ring_rates[n]);
  }
}

TEST_CASE("lanes: rings of random meshes share no lane, and wider joints never have fewer") {
  std::mt19937 random(7);
  std::uniform_int_distribution<std::uint32_t> count(0, 2);
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = 2 + random() % 6;
    Lanes lanes{std::vector<std::vector<std::uint32_t>>(n, std::vector<std::uint32_t>(n, 0)), 1};
    std::uint32_t most = UINT32_MAX;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) lanes.between[i][j] = lanes.between[j][i] = count(random);
    }
    for (const auto& row : lanes.between) {
      std::uint32_t sum = 0;
      for (const std::uint32_t lane : row) sum += lane;
      most = std::min(most, sum);
    }
    const std::uint32_t rings = rings_through(lanes, static_cast<std::uint32_t>(n));
    CHECK(rings <= most);  // each leaves every accelerator by one lane
    const std::size_t a = random() % n;
    const std::size_t b = (a + 1) % n;
    if (lanes.between[a][b] == 0) continue;
    ++lanes.between[a][b];
    ++lanes.between[b][a];
    CHECK(rings_through(lanes, static_cast<std::uint32_t>(n)) >= rings);
  }
  // All joined to all by one lane: every accelerator is left by each of its lanes.
  for (const std::uint32_t n : {3U, 5U, 7U}) {
    Lanes all{std::vector<std::vector<std::uint32_t>>(n, std::vector<std::uint32_t>(n, 1)), 1};
    for (std::size_t i = 0; i < n; ++i) all.between[i][i] = 0;
    CHECK(rings_through(all, n) == n - 1);
  }
}

TEST_CASE("lanes: mistakes are told with the place") {
  CHECK(lane_error(R"("lanes": ["0-1=1", "1-2=2"], "lane_bandwidth": "22.5 GB/s")").empty());
  for (const char* wrong : {"0-4=1", "0-0=1", "0=1", "0-1", "0-1=0", "0-1=1.5", "a-b=c", ""}) {
    CAPTURE(wrong);
    const std::string error = lane_error(std::string(R"("lanes": ["1-2=2", ")") + wrong +
                                         R"("], "lane_bandwidth": "22.5 GB/s")");
    CHECK(error.find("/node/lanes: got '" + std::string(wrong) + "', expected two accelerators") !=
          std::string::npos);
  }
  CHECK(lane_error(R"("lanes": ["1-2=2", "2-1=1"], "lane_bandwidth": "22.5 GB/s")")
            .find("got '2-1=1'") != std::string::npos);
  CHECK(lane_error(R"("lanes": ["1-2=2"])").find("/node/lane_bandwidth") != std::string::npos);
}
