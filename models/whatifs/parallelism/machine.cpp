#include "models/whatifs/parallelism/machine.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "sim/core/whole.h"

namespace foretrace::editing {
namespace {

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
  const CollectiveRange range = collective_range(cluster, call);
  TransferTime time;
  time.ns = to_whole(std::clamp(range.time.ns, 0.0, 1e17));
  time.trust.provenance = range.time.provenance;
  if (range.time.ns > 0 && std::isfinite(range.longest_ns)) {
    time.trust.low = static_cast<float>(range.shortest_ns / range.time.ns);
    time.trust.high = static_cast<float>(range.longest_ns / range.time.ns);
  }
  return time;
}

}  // namespace foretrace::editing
