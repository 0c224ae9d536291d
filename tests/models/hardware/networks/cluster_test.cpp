#include "models/hardware/networks/cluster.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/accelerator.h"
#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/networks/placement.h"
#include "tests/configs.h"

using foretrace::cluster_names;
using foretrace::collective_time;
using foretrace::CollectiveKind;
using foretrace::find_cluster;
using foretrace::parse_cluster;
using foretrace::place;
using foretrace::place_alone;

namespace {

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The error of Selene's file with one text replaced by another.
std::string error_with(const std::string& from, const std::string& to) {
  std::string text = file_text(FORETRACE_SOURCE_DIR "/configs/clusters/selene.json");
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  const auto cluster = parse_cluster(*foretrace::test::shipped(), text, "selene.json");
  REQUIRE_FALSE(cluster.ok());
  return cluster.error().message;
}

}  // namespace

TEST_CASE("clusters: every file reads, and says where its figures are from") {
  CHECK(cluster_names(*foretrace::test::shipped()).size() >= 20);
  for (const std::string& name : cluster_names(*foretrace::test::shipped())) {
    CAPTURE(name);
    const auto cluster = find_cluster(*foretrace::test::shipped(), name);
    REQUIRE_MESSAGE(cluster.ok(), cluster.error().message);
    CHECK(cluster->name == name);
    CHECK(cluster->accelerators() >= 1);
    CHECK_FALSE(cluster->sources.empty());
    for (const auto& curve : cluster->curves) CHECK(curve.bytes.size() == curve.ns.size());
  }
}

TEST_CASE("clusters: a price that no accelerator has is refused") {
  CHECK(error_with("\"price_per_hour\": 2.0", "\"price_per_hour\": 1e308") ==
        "selene.json: /price_per_hour: got 1e+308, expected 0 to 1e+06");
}

TEST_CASE("clusters: mistakes are told with file, place and the nearest right word") {
  CHECK(error_with("\"nvswitch\"", "\"nvswich\"") ==
        "selene.json: /node/links: got 'nvswich' (did you mean 'nvswitch'?), expected one of "
        "nvswitch, mesh, pairs, pcie, torus, none");
  CHECK(error_with("\"25 GB/s\"", "25").find("/node/host_link_bandwidth: got the number 25") !=
        std::string::npos);
  CHECK(error_with("\"nodes\": 560", "\"nodes\": 0").find("expected a whole number from 1") !=
        std::string::npos);
  CHECK(error_with("a100_sxm_80gb", "a100_sxm_80g").find("did you mean 'a100_sxm_80gb'?") !=
        std::string::npos);
  CHECK(error_with("\"network\": {", "\"netwrok\": {").find("did you mean 'network'?") !=
        std::string::npos);
}

TEST_CASE("clusters: switches that add up say how fast a port is, and stand between nodes only") {
  const std::string ports = "\"nics_per_node\": 8";
  const auto with = [&](const std::string& sums) {
    return error_with(ports, "\"aggregation\": {" + sums + "}, " + ports);
  };
  CHECK(with(R"("trees": 4)").find("/network/aggregation/port_rate: missing key") !=
        std::string::npos);
  CHECK(with(R"("trees": 0, "port_rate": "25 GB/s", "level_latency": "1 us")")
            .find("/network/aggregation/trees: got 0") != std::string::npos);
  CHECK(with(R"("tres": 4, "port_rate": "25 GB/s", "level_latency": "1 us")")
            .find("did you mean 'trees'?") != std::string::npos);
  const auto sums =
      foretrace::parse_config(R"({"trees": 1, "port_rate": "1 GB/s", "level_latency": "1 us"})");
  REQUIRE(sums.ok());
  const auto pod = find_cluster(*foretrace::test::shipped(), "tpu_v3_multipod");
  REQUIRE(pod.ok());
  const auto refused = foretrace::with_aggregation(*pod, *sums, "s.json", "/aggregation");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message ==
        "s.json: /aggregation: got switches that aggregate for tpu_v3_multipod, which has none "
        "between nodes, expected a cluster with a network of nodes");
}

TEST_CASE("clusters: a sum on a torus passes the axes that its group reaches over") {
  const auto pod = find_cluster(*foretrace::test::shipped(), "tpu_v3_multipod");
  REQUIRE_MESSAGE(pod.ok(), (pod.ok() ? "" : pod.error().message));
  const auto ns_of = [&pod](std::uint32_t size, std::uint32_t stride) {
    return collective_time(*pod, {CollectiveKind::all_reduce, 166e6, place(*pod, {size, stride})})
        .ns;
  };
  // 166 MB at 166 GB/s take 1 ms; a hop takes 1 us.
  CHECK(ns_of(4096, 1) == doctest::Approx(2 * (31e3 + 31 * 1e6 / 32 + 127e3 + 127 * 1e6 / 4096)));
  CHECK(ns_of(2, 1) == doctest::Approx(2 * (1e3 + 1e6 / 2)));
  // One of each ring of 32.
  CHECK(ns_of(128, 32) == doctest::Approx(2 * (127e3 + 127 * 1e6 / 128)));
  CHECK(place_alone(*pod, 1, 4096).tier_ranks == place(*pod, {4096, 1}).tier_ranks);
}

TEST_CASE("clusters: the axes of a torus hold all its chips") {
  const auto error_of = [](const std::string& from, const std::string& to) {
    std::string text = file_text(FORETRACE_SOURCE_DIR "/configs/clusters/tpu_v3_multipod.json");
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
    const auto cluster = parse_cluster(*foretrace::test::shipped(), text, "pod.json");
    return cluster.ok() ? std::string() : cluster.error().message;
  };
  CHECK(error_of("\"torus\"", "\"torus\"").empty());
  CHECK(error_of("\"size\": 128", "\"size\": 64") ==
        "pod.json: /node/tiers: got 2048 members in all, expected the 4096 of the cluster");
  CHECK(error_of("\"torus\"", "\"mesh\"").find("expected links 'torus' and no regimes") !=
        std::string::npos);
  CHECK(error_of("\"latency\"", "\"latenzy\"").find("/node/tiers/0") != std::string::npos);
}

TEST_CASE("clusters: nodes that nothing joins are a disconnected topology") {
  std::string text = file_text(FORETRACE_SOURCE_DIR "/configs/clusters/single.json");
  text.replace(text.find("\"nodes\": 1"), 10, "\"nodes\": 2");
  const auto cluster = parse_cluster(*foretrace::test::shipped(), text, "two.json");
  REQUIRE_FALSE(cluster.ok());
  CHECK(cluster.error().message.find("the topology is disconnected") != std::string::npos);
}

TEST_CASE("clusters: an unknown name is told with the nearest") {
  const auto cluster = find_cluster(*foretrace::test::shipped(), "selena");
  REQUIRE_FALSE(cluster.ok());
  CHECK(cluster.error().message.find("did you mean 'selene'?") != std::string::npos);
}

TEST_CASE("clusters: a lone accelerator brings its own generation") {
  const auto generation = [](const char* name) {
    const auto found = foretrace::lone_accelerator(*foretrace::test::shipped(), name);
    REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message));
    CHECK((*found)->accelerators() == 1);
    return (*found)->generation;
  };
  CHECK(generation("h100_sxm") == foretrace::Generation::hopper);
  CHECK(generation("a100_sxm_80gb") == foretrace::Generation::ampere);
  CHECK(generation("v100_pcie_32gb") == foretrace::Generation::volta);
  CHECK(generation("b200_sxm") == foretrace::Generation::blackwell);
  CHECK(generation("mi210") == foretrace::Generation::other);
}

TEST_CASE("clusters: a lone accelerator may be a file, and is called as it is") {
  const auto& catalogue = *foretrace::test::shipped();
  const auto alone = foretrace::lone_accelerator(
      catalogue, FORETRACE_SOURCE_DIR "/configs/accelerators/h100_sxm.json");
  REQUIRE_MESSAGE(alone.ok(), alone.error().message);
  CHECK((*alone)->accelerator.name == "h100_sxm");
  CHECK((*alone)->name == "h100_sxm");
  CHECK((*alone)->generation == foretrace::Generation::hopper);
  CHECK_FALSE(foretrace::lone_accelerator(catalogue, "nowhere/h100_sxm").ok());
  CHECK_FALSE(foretrace::lone_accelerator(catalogue, "nowhere.json").ok());
}

TEST_CASE("clusters: an accelerator may be a file beside the cluster's") {
  const auto folder = std::filesystem::temp_directory_path() / "foretrace_cluster_files";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(FORETRACE_SOURCE_DIR "/configs/accelerators/h100_sxm.json",
                             folder / "mine.json",
                             std::filesystem::copy_options::overwrite_existing);
  std::string text = file_text(FORETRACE_SOURCE_DIR "/configs/clusters/selene.json");
  const auto at = text.find("\"a100_sxm_80gb\"");
  REQUIRE(at != std::string::npos);
  text.replace(at, 15, "\"mine.json\"");
  std::ofstream(folder / "machine.json") << text;
  const auto cluster =
      find_cluster(*foretrace::test::shipped(), (folder / "machine.json").string());
  std::filesystem::remove(folder / "mine.json");
  const auto gone = find_cluster(*foretrace::test::shipped(), (folder / "machine.json").string());
  std::filesystem::remove_all(folder);
  REQUIRE_MESSAGE(cluster.ok(), (cluster.ok() ? "" : cluster.error().message));
  CHECK(cluster->accelerator.name == "mine");
  CHECK(cluster->accelerator.product == "NVIDIA H100 SXM5 80GB");
  REQUIRE_FALSE(gone.ok());
  CHECK(gone.error().message.find("/accelerator: ") != std::string::npos);
}

TEST_CASE("clusters: a file of nobody's is told what would be one") {
  const auto path = std::filesystem::temp_directory_path() / "foretrace_no_machine.json";
  std::ofstream(path) << "{\"nodes\": 4}";
  const auto cluster = find_cluster(*foretrace::test::shipped(), path.string());
  std::filesystem::remove(path);
  REQUIRE_FALSE(cluster.ok());
  CHECK(cluster.error().message.find("expected one that names the schema foretrace.cluster/1, or "
                                     "networks of ASTRA-sim, system files of Calculon") !=
        std::string::npos);
}
