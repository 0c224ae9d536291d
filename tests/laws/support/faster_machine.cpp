#include "tests/laws/support/faster_machine.h"

#include <cstddef>
#include <utility>

namespace foretrace::test {

Cluster with_links(Cluster cluster, double faster, double shorter) {
  cluster.curves.clear();  // were measured on the links as they were
  // A device that waits less runs at a lower clock: that is another law.
  SustainedClock& clock = cluster.accelerator.sustained_clock;
  clock.low = clock.high = clock.typical;
  cluster.link_bandwidth *= faster;
  cluster.link_latency_ns /= shorter;
  for (LocalRegime& regime : cluster.regimes) {
    regime.bandwidth *= faster;
    regime.fixed_ns /= shorter;
    regime.per_rank_ns /= shorter;
    regime.per_channel_ns /= shorter;
  }
  cluster.network.nic_bandwidth *= faster;
  cluster.network.step_latency_ns /= shorter;
  cluster.network.aggregation.port_rate *= faster;
  cluster.network.aggregation.level_latency_ns /= shorter;
  for (Tier& tier : cluster.tier_network.tiers) {
    tier.bandwidth *= faster;
    tier.latency_ns /= shorter;
  }
  return cluster;
}

Cluster faster_machine(Cluster cluster, double faster, double shorter) {
  Cluster machine = with_links(std::move(cluster), faster, shorter);
  Accelerator& accelerator = machine.accelerator;
  for (std::size_t i = 0; i < accelerator.peak_flops.size(); ++i) {
    accelerator.peak_flops[i] *= faster;
    accelerator.sustained_flops[i] *= faster;
  }
  accelerator.vector_fp32_flops *= faster;
  accelerator.memory_bandwidth *= faster;
  machine.host_link_bandwidth *= faster;
  return machine;
}

}  // namespace foretrace::test
