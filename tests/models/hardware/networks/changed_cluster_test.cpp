#include "models/hardware/networks/changed_cluster.h"

#include <string>
#include <tuple>
#include <vector>

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

/// Calls of every kind, over groups in a node and over nodes.
std::vector<CollectiveCall> calls_on(const Cluster& cluster) {
  std::vector<CollectiveCall> calls;
  const auto add = [&](std::uint32_t nodes, std::uint32_t per_node) {
    for (std::size_t i = 1; i < collective_kind_count; ++i) {
      for (double bytes = 1024; bytes < 1e10; bytes *= 8) {
        calls.push_back(
            {static_cast<CollectiveKind>(i), bytes, place_alone(cluster, nodes, per_node)});
      }
    }
  };
  for (std::uint32_t ranks = 2; ranks <= cluster.node_accelerators; ranks *= 2) add(1, ranks);
  for (std::uint32_t nodes = 2; nodes <= cluster.nodes; nodes *= 4) {
    add(nodes, cluster.node_accelerators);
    add(nodes, 1);
  }
  return calls;
}

void check_never_slower(const Cluster& before, const Cluster& after, bool is_equal) {
  for (const CollectiveCall& call : calls_on(before)) {
    CollectiveCall there = call;
    there.group = place_alone(after, call.group.nodes, call.group.per_node);
    const double was = collective_time(before, call).ns;
    const double is = collective_time(after, there).ns;
    CAPTURE(to_string(call.kind));
    CAPTURE(call.bytes);
    CAPTURE(call.group.nodes);
    CAPTURE(call.group.per_node);
    if (is_equal) CHECK_MESSAGE(is == was, after.name);
    CHECK_MESSAGE(is <= was * 1.0001, after.name);
  }
}

TEST_CASE("changed cluster: a field with its own value changes nothing, a better one never harms") {
  const CataloguePtr& known = test::shipped();
  for (const std::string& name : cluster_names(*known)) {
    const ConfigValue& document = **known->document({"cluster", "clusters"}, name);
    const Cluster before = cluster_of(name);
    for (const auto& [part, key, factor] :
         std::vector<std::tuple<const char*, const char*, double>>{
             {"node", "link_bandwidth", 2},
             {"node", "host_link_bandwidth", 2},
             {"network", "nic_bandwidth", 2},
             {"network", "nics_per_node", 2},
             {"network", "nics_per_node", 3},
             {"network", "step_latency", 0.5}}) {
      const ConfigValue* const object = document.find(part);
      const ConfigValue* const field = object == nullptr ? nullptr : object->find(key);
      if (field == nullptr) continue;
      check_never_slower(before, cluster_of(fmt::format("{}:{}={}", name, key, field->text)), true);
      const std::size_t unit = field->text.find_first_not_of("0123456789.");
      const std::string better =
          fmt::format("{}{}", std::stod(field->text) * factor,
                      unit == std::string::npos ? std::string() : field->text.substr(unit));
      check_never_slower(before, cluster_of(fmt::format("{}:{}={}", name, key, better)), false);
    }
  }
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

TEST_CASE("changed cluster: the size of a torus is none of a name") {
  const auto message = [](const std::string& name) {
    const auto found = find_cluster(*test::shipped(), name);
    return found.ok() ? std::string() : found.error().message;
  };
  CHECK(message("tpu_v3_multipod:nodes=1").empty());
  CHECK(message("tpu_v3_multipod:nodes=4") ==
        "tpu_v3_multipod: nodes: got 4, expected 1: the axes of a torus make its number of "
        "accelerators; another one is a cluster file of its own");
  CHECK(message("tpu_v3_multipod:accelerators=8").find("accelerators: got 8, expected 4096") !=
        std::string::npos);
}

TEST_CASE("changed cluster: fields that change no collective keep the evidence of each") {
  for (const std::string name : {"dgx_h100", "aws_p4de", "azure_ndv4", "aws_p3"}) {
    const Cluster base = cluster_of(name);
    for (const std::string& change :
         {std::string("price_per_hour=3"), fmt::format("nodes={}", 2 * base.nodes),
          fmt::format("nodes={}", base.nodes)}) {
      const Cluster changed = cluster_of(name + ":" + change);
      for (const CollectiveCall& call : calls_on(base)) {
        CAPTURE(changed.name);
        CAPTURE(call.bytes);
        CAPTURE(call.group.ranks);
        const CollectiveRange before = collective_range(base, call);
        const CollectiveRange after = collective_range(changed, call);
        REQUIRE(after.time.ns == before.time.ns);
        REQUIRE(after.basis == before.basis);
        REQUIRE(after.shortest_ns == before.shortest_ns);
        REQUIRE(after.longest_ns == before.longest_ns);
      }
    }
  }
  // What it uses is another machine, what it does not use is none.
  const Cluster slow = cluster_of("dgx_h100:nic_bandwidth=25GB/s");
  const auto basis = [](const Cluster& cluster, std::uint32_t nodes) {
    return collective_range(cluster,
                            {CollectiveKind::all_reduce, 1e9, place_alone(cluster, nodes, 8)})
        .basis;
  };
  const Cluster base = cluster_of("dgx_h100");
  CHECK(basis(slow, 1) == basis(base, 1));
  CHECK(basis(slow, 4) != basis(base, 4));
}

}  // namespace
}  // namespace foretrace
