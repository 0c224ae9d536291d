#include "models/whatifs/parallelism/machine.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "sim/core/whole.h"

namespace foretrace::editing {
namespace {

// How far a time that is not bounded by the efficiency of a network may be off: the errors of
// collectives inside a node above 1 MB (`foretrace validate --tables`), 90 % of them.
constexpr float local_low = 0.85F;
constexpr float local_high = 1.2F;

/// "v100_sxm2_32gb" -> "v100_sxm2": the product without the size of its memory.
std::string_view family_of(std::string_view accelerator) {
  return accelerator.ends_with("gb") ? accelerator.substr(0, accelerator.rfind('_')) : accelerator;
}

std::optional<Cluster> usual_machine(const Catalogue& catalogue, std::string_view accelerator,
                                     bool of_family) {
  for (const std::string& name : cluster_names(catalogue)) {
    Result<Cluster> cluster = find_cluster(catalogue, name);
    if (!cluster.ok() || !cluster->is_usual) continue;
    const std::string& has = cluster->accelerator.name;
    if (has == accelerator || (of_family && family_of(has) == family_of(accelerator))) {
      return *std::move(cluster);
    }
  }
  return std::nullopt;
}

}  // namespace

Result<Cluster> machine_of(const WhatIfInput& scenario, const std::string& named) {
  if (named != "recording") return find_cluster(scenario.catalogue, named);
  if (scenario.accelerator == nullptr) {
    return Error{ErrorCode::unsupported, "unknown GPU; add cluster=NAME, such as dgx_h100"};
  }
  for (const bool of_family : {false, true}) {
    if (auto cluster = usual_machine(scenario.catalogue, scenario.accelerator->name, of_family)) {
      return *std::move(cluster);
    }
  }
  return Error{
      ErrorCode::unsupported,
      fmt::format("no cluster file is the usual machine of {}; add cluster=NAME, such as dgx_h100",
                  scenario.accelerator->name)};
}

TransferTime transfer_time(const Cluster& cluster, const CollectiveCall& call) {
  const CollectiveTime point = collective_time(cluster, call);
  TransferTime time;
  time.ns = to_whole(std::clamp(point.ns, 0.0, 1e17));
  time.trust = {point.provenance, local_low, local_high};
  if (call.group.nodes > 1 && point.ns > 0) {
    const double fast = collective_time(cluster, call, Bound::optimistic).ns / point.ns;
    const double slow = collective_time(cluster, call, Bound::pessimistic).ns / point.ns;
    time.trust.low = std::min(static_cast<float>(fast), local_low);
    time.trust.high = std::max(static_cast<float>(slow), local_high);
  }
  return time;
}

}  // namespace foretrace::editing
