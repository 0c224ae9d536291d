#include <string>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/imported_file.h"
#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/networks/cluster_import.h"
#include "tests/configs.h"

using foretrace::Cluster;
using foretrace::cluster_import_of;
using foretrace::CollectiveKind;
using foretrace::place;
using foretrace::Precision;
using foretrace::Result;

namespace {

// Made up: 4 devices of 10 cores at 1 GHz.
const std::string small = R"({
  "name": "made up x4", "device_count": 4,
  "interconnect": {"link": {"bandwidth_per_direction_byte": 10e9, "latency_second": 1e-6,
                            "flit_size_byte": 16, "header_size_byte": 10,
                            "max_payload_size_byte": 240},
                   "link_count_per_device": 3, "topology": "FC"},
  "device": {"frequency_Hz": 1e9, "compute_chiplet_count": 2,
    "compute_chiplet": {"core_count": 5, "core": {"sublane_count": 4,
      "systolic_array": {"array_width": 16, "array_height": 8, "data_type": "fp16",
                         "mac_per_cycle": 0.5},
      "vector_unit": {"vector_width": 32, "flop_per_cycle": 2, "data_type": "fp16"}}},
    "io": {"memory_channel_active_count": 4, "pin_count_per_channel": 1000,
           "bandwidth_per_pin_bit": 2e9},
    "memory": {"total_capacity_GB": 16}}})";

Result<Cluster> read(const std::string& text) {
  const auto file = foretrace::imported_text(text, "small.json");
  if (!file.ok()) return file.error();
  const auto* const import = cluster_import_of(*file);
  REQUIRE(import != nullptr);
  CHECK(import->name == "llmcompass_system");
  return import->read(*foretrace::test::shipped(), *file);
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = small;
  REQUIRE(text.find(from) != std::string::npos);
  return text.replace(text.find(from), from.size(), to);
}

double ns(const Cluster& cluster, CollectiveKind kind, double bytes, std::uint32_t ranks) {
  return foretrace::collective_time(cluster, {kind, bytes, place(cluster, {ranks, 1})}).ns;
}
double all_reduce_ns(const Cluster& cluster, double bytes) {
  return ns(cluster, CollectiveKind::all_reduce, bytes, 4);
}

}  // namespace

TEST_CASE("llmcompass: rates follow from units, cores, channels and the clock") {
  const auto cluster = read(small);
  REQUIRE_MESSAGE(cluster.ok(), (cluster.ok() ? "" : cluster.error().message));
  CHECK(cluster->machine == "made up x4");
  CHECK(cluster->accelerators() == 4);
  // 10 cores x 4 arrays x 0.5 x 2 x 8 x 16 per cycle of 1 ns.
  CHECK(cluster->accelerator.flops(Precision::fp16) == doctest::Approx(5.12e12));
  // 10 cores x 4 x 32 x 2.
  CHECK(cluster->accelerator.vector_fp32_flops == doctest::Approx(2.56e12));
  CHECK(cluster->accelerator.memory_bandwidth == doctest::Approx(1e12));  // 4 x 1000 x 2e9 / 8
  CHECK(cluster->accelerator.memory_bytes == std::int64_t{16} << 30U);
  CHECK(cluster->accelerator.multiprocessors == 10);
}

TEST_CASE("llmcompass: an all-reduce takes what its communication primitive computes") {
  // A header is a whole flit of 16: 240 of 256 bytes count. Between two of four there are 10 GB/s,
  // 9.375 of them payload. 3 x (1 us + 256 KB / 2 / 9.375 GB/s) + 256 KB / 9.375 GB/s, with a
  // quarter of 1.024 MB.
  const double part = 256e3 / 9.375;
  const auto cluster = read(small);
  REQUIRE(cluster.ok());
  CHECK(all_reduce_ns(*cluster, 1.024e6) == doctest::Approx(3000 + 1.5 * part + part));
  // A ring has all links to each neighbour: 6 steps.
  const auto ring = read(with("\"FC\"", "\"RING\""));
  REQUIRE(ring.ok());
  CHECK(all_reduce_ns(*ring, 1.024e6) == doctest::Approx(6 * (1000 + part / 3)));
}

TEST_CASE(
    "llmcompass: a message has the links of its pair and one latency, whoever else is there") {
  const auto cluster = read(small);
  REQUIRE(cluster.ok());
  // One of three links, 9.375 GB/s of payload.
  CHECK(ns(*cluster, CollectiveKind::send, 9.375e6, 2) == doctest::Approx(1000 + 1e6));
  CHECK(cluster->link_latency_ns == doctest::Approx(1000));
  // A quarter to each of the others at once.
  CHECK(ns(*cluster, CollectiveKind::all_to_all, 4 * 9.375e6, 4) == doctest::Approx(1000 + 1e6));
  // Two of the four add up in one turn: 1 us + V / (4 b) + V / (2 b).
  CHECK(ns(*cluster, CollectiveKind::all_reduce, 4 * 9.375e6, 2) == doctest::Approx(1000 + 3e6));
}

TEST_CASE("llmcompass: a wrong member is one line with its place") {
  const auto topology = read(with("\"FC\"", "\"FCC\""));
  REQUIRE_FALSE(topology.ok());
  CHECK(topology.error().message ==
        "small.json: /interconnect/topology: got 'FCC' (did you mean 'FC'?), expected one of FC, "
        "RING");
  const auto sublanes = read(with("\"sublane_count\"", "\"sublanes_count\""));
  REQUIRE_FALSE(sublanes.ok());
  CHECK(sublanes.error().message.find("/device/compute_chiplet/core/sublane_count: missing key "
                                      "(did you mean 'sublanes_count'?)") != std::string::npos);
}
