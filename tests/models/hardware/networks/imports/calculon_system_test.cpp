#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/imported_file.h"
#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/costs/gemm_model.h"
#include "models/hardware/networks/cluster_import.h"
#include "tests/configs.h"

using foretrace::Cluster;
using foretrace::cluster_import_of;
using foretrace::CollectiveKind;
using foretrace::GridAxis;
using foretrace::place;
using foretrace::Precision;
using foretrace::Result;

namespace {

// Made up: two networks, 4 and 32 accelerators.
const std::string small = R"({
  "matrix": {"float16": {"tflops": 100, "gflops_efficiency": [[64, 0.8], [0, 0.2]]}},
  "vector": {"float16": {"tflops": 20, "gflops_efficiency": [[8, 0.9], [0, 0.1]]}},
  "mem1": {"GiB": 32, "GBps": 1000, "MB_efficiency": [[10, 0.9], [0, 0.3]]},
  "mem2": {"GiB": 128, "GBps": 20, "MB_efficiency": [[0, 1.0]]},
  "processing_mode": "roofline",
  "networks": [
    {"bandwidth": 200, "efficiency": 0.5, "size": 4, "latency": 1e-6, "must_be_filled": true,
     "processor_usage": 0.1,
     "ops": {"p2p": [1.0, null], "reduce_scatter": [1.0, -1], "all_gather": [1.0, -1],
             "all_reduce": [2.0, -1]}},
    {"bandwidth": 10, "efficiency": 1.0, "size": 32, "latency": 5e-6, "must_be_filled": false,
     "processor_usage": 0.0,
     "ops": {"p2p": [1.0, null], "reduce_scatter": [1.0, 0], "all_gather": [1.0, 0],
             "all_reduce": [1.0, 0]}}]})";

Result<Cluster> read(const std::string& text) {
  const auto file = foretrace::imported_text(text, "small.json");
  if (!file.ok()) return file.error();
  const auto* const import = cluster_import_of(*file);
  REQUIRE(import != nullptr);
  CHECK(import->name == "calculon_system");
  return import->read(*foretrace::test::shipped(), *file);
}

std::string error_with(const std::string& from, const std::string& to) {
  std::string text = small;
  REQUIRE(text.find(from) != std::string::npos);
  text.replace(text.find(from), from.size(), to);
  const auto cluster = read(text);
  REQUIRE_FALSE(cluster.ok());
  return cluster.error().message;
}

double ns(const Cluster& cluster, CollectiveKind kind, double bytes, const GridAxis& axis) {
  return foretrace::collective_time(cluster, {kind, bytes, place(cluster, axis)}).ns;
}

}  // namespace

TEST_CASE("calculon system: units, memory and networks become an accelerator and a machine") {
  const auto cluster = read(small);
  REQUIRE_MESSAGE(cluster.ok(), (cluster.ok() ? "" : cluster.error().message));
  CHECK(cluster->accelerators() == 32);
  CHECK(cluster->node_accelerators == 4);
  const auto& chip = cluster->accelerator;
  CHECK(chip.flops(Precision::fp16) == 100e12);
  CHECK(chip.sustained_flops[static_cast<std::size_t>(Precision::fp16)] == 80e12);
  CHECK(chip.flops(Precision::bf16) == 0);
  CHECK(chip.vector_fp32_flops == 20e12);
  CHECK(chip.memory_bytes == std::int64_t{32} << 30U);
  CHECK(chip.memory_bandwidth == 1000e9);
  CHECK(chip.host_link_bandwidth == 20e9);
  CHECK_FALSE(cluster->notes.empty());
}

TEST_CASE("calculon system: a large product takes its operations at the stated efficiency") {
  const auto cluster = read(small);
  REQUIRE(cluster.ok());
  const auto& chip = cluster->accelerator;
  // 2 x 4096^3 at 80 TFLOP/s.
  CHECK(foretrace::gemm_ns(chip, Precision::fp16, {1, 4096, 4096, 4096}) ==
        doctest::Approx(2 * std::pow(4096.0, 3) / 80e3));
  // Three matrices of 2 bytes a number at 900 GB/s, where k is small.
  const double bytes = 2.0 * (2 * 4096 * 16 + 4096.0 * 4096);
  CHECK(foretrace::gemm_ns(chip, Precision::fp16, {1, 4096, 4096, 16}) ==
        doctest::Approx(bytes / 900));
}

TEST_CASE("calculon system: a collective takes what its network.py computes") {
  const auto cluster = read(small);
  REQUIRE(cluster.ok());
  // Inside: 1 us + 2 (1 - 1/4) 1e6 B / 100 GB/s = 1 us + 15 us.
  CHECK(ns(*cluster, CollectiveKind::all_reduce, 1e6, {4, 1}) == doctest::Approx(16000));
  // Two of the four: 2 (1 - 1/2).
  CHECK(ns(*cluster, CollectiveKind::all_reduce, 1e6, {2, 1}) == doctest::Approx(11000));
  CHECK(ns(*cluster, CollectiveKind::all_gather, 1e6, {4, 1}) == doctest::Approx(8500));
  // Beyond 4 the wide network carries all of it: 5 us + 1e6 / 10 GB/s, whatever the ranks.
  CHECK(ns(*cluster, CollectiveKind::all_reduce, 1e6, {8, 1}) == doctest::Approx(105000));
  CHECK(ns(*cluster, CollectiveKind::reduce_scatter, 1e6, {8, 4}) == doctest::Approx(105000));
  // A message between stages.
  CHECK(ns(*cluster, CollectiveKind::send, 1e6, {8, 4}) == doctest::Approx(105000));
  CHECK(ns(*cluster, CollectiveKind::send, 1e6, {4, 1}) == doctest::Approx(11000));
}

TEST_CASE("calculon system: a wrong member is one line with its place and what is expected") {
  CHECK(error_with("\"tflops\": 100", "\"tflops\": \"100\"") ==
        "small.json: /matrix/float16/tflops: got '100', expected a number from 1e-06 to 1e+09");
  CHECK(error_with("\"GBps\": 1000", "\"GBPs\": 1000") ==
        "small.json: /mem1/GBps: missing key (did you mean 'GBPs'?), expected a number from 1e-06 "
        "to 1e+09");
  CHECK(error_with("\"all_reduce\": [2.0, -1]", "\"all_reduce\": 2")
            .find("small.json: /networks/0/ops/all_reduce: got the number 2, expected a list") ==
        0);
  CHECK(error_with("\"size\": 32", "\"size\": 4").find("/networks/1/size: is not larger") !=
        std::string::npos);
  CHECK(error_with("\"float16\": {\"tflops\": 100", "\"half\": {\"tflops\": 100")
            .find("/matrix: got no datatype, expected one of float8, float16") !=
        std::string::npos);
}

TEST_CASE("calculon system: memory without limit is read, and said") {
  std::string text = small;
  text.replace(text.find("\"GiB\": 32"), 9, "\"GiB\": 80000000000");
  const auto cluster = read(text);
  REQUIRE_MESSAGE(cluster.ok(), cluster.error().message);
  CHECK(cluster->accelerator.memory_bytes == std::int64_t{1} << 60);
  CHECK(cluster->notes.back() == "memory has no limit");
}
