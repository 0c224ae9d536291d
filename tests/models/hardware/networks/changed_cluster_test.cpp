#include "models/hardware/networks/changed_cluster.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/networks/cluster.h"
#include "models/hardware/networks/placement.h"
#include "tests/configs.h"

namespace foretrace {
namespace {

Cluster cluster_of(const std::string& name) {
  auto found = find_cluster(*test::shipped(), name);
  REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message));
  return std::move(*found);
}

double all_reduce_ns(const Cluster& cluster, std::uint32_t ranks) {
  const Placement group = place(cluster, {ranks, 1, ranks});
  return collective_time(cluster, {CollectiveKind::all_reduce, 1e9, group}).ns;
}

TEST_CASE("changed cluster: a faster network is faster between nodes, and between nodes alone") {
  for (const std::string name : {"dgx_h100", "selene", "aws_p3"}) {
    CAPTURE(name);
    const Cluster slow = cluster_of(name + ":nic_bandwidth=5GB/s");
    const Cluster fast = cluster_of(name + ":nic_bandwidth=400GB/s");
    CHECK(all_reduce_ns(slow, 64) > all_reduce_ns(fast, 64));
    CHECK(all_reduce_ns(slow, 8) == all_reduce_ns(cluster_of(name), 8));
    CHECK(slow.machine.find("nic_bandwidth=5GB/s") != std::string::npos);
  }
}

TEST_CASE("changed cluster: faster links of a node are faster in it") {
  const Cluster slow = cluster_of("dgx_h100:link_bandwidth=100GB/s");
  const Cluster fast = cluster_of("dgx_h100:link_bandwidth=900GB/s");
  CHECK(all_reduce_ns(slow, 8) > 2 * all_reduce_ns(fast, 8));
  CHECK(slow.curves.empty());
}

TEST_CASE("changed cluster: several fields, numbers and texts") {
  const Cluster both = cluster_of("dgx_h100:nodes=4,step_latency=20 us");
  CHECK(both.accelerators() == 32);
  CHECK(cluster_of("dgx_h100:accelerator=h200_sxm").accelerator.name == "h200_sxm");
}

TEST_CASE("changed cluster: mistakes are one line with the nearest name") {
  const auto refusal = [](const std::string& name) {
    const auto found = find_cluster(*test::shipped(), name);
    return found.ok() ? std::string() : found.error().message;
  };
  CHECK(refusal("dgx_h100:nic_bandwith=25GB/s").find("nic_bandwidth") != std::string::npos);
  CHECK(refusal("dgx_h1000:nodes=4").find("dgx_h100") != std::string::npos);
  CHECK(refusal("dgx_h100:nodes=many").find("nodes") != std::string::npos);
  CHECK(refusal("dgx_h100:nic_bandwidth=25").find("nic_bandwidth") != std::string::npos);
  CHECK(!refusal("dgx_h100:curves=1").empty());
  CHECK(!refusal("dgx_h100:=").empty());
}

}  // namespace
}  // namespace foretrace
