// How long collectives take on a cluster that nothing else uses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/hardware/networks/cluster.h"
#include "models/hardware/networks/placement.h"
#include "sim/core/params.h"
#include "sim/core/ranged.h"
#include "sim/graph/task.h"

namespace foretrace {

/// One collective. `bytes` is the buffer as nccl-tests counts it: what is reduced, the whole
/// gathered or scattered buffer, what one rank sends in an all-to-all, the message of a send.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::all_reduce;
  double bytes = 0;
  Placement group;
};

struct CollectiveTime {
  double ns = 0;
  Provenance provenance = Provenance::assumed;
  std::string_view basis = {};  ///< "measured curve", "ring"; lives as long as the program
  bool is_curve = false;        ///< between sizes of a curve that was measured of this group
};

/// Bytes that one rank sends.
[[nodiscard]] double sent_bytes(const CollectiveCall& call);

/// Measured curves of the machine where there are some, then what its regimes say inside a node
/// and NCCL's model between nodes. `bound` moves the efficiency of the network to its ends.
[[nodiscard]] CollectiveTime collective_time(const Cluster& cluster, const CollectiveCall& call,
                                             Bound bound = Bound::point);

struct CollectiveRange {
  CollectiveTime time;
  double shortest_ns = 0;
  double longest_ns = 0;
  std::string basis;  ///< of the range, in words
};
/// The time and how far it may be off: what the evidence says of this collective on this machine,
/// of machines without a catalogue what the network's efficiency is uncertain.
[[nodiscard]] CollectiveRange collective_range(const Cluster& cluster, const CollectiveCall& call);

/// How far off collectives of a job are, taken together, as factors: as a sum of 64 MiB over all
/// accelerators of so many nodes is.
[[nodiscard]] Ranged collective_spread(const Cluster& cluster, std::uint32_t nodes);

/// What one rank of an all-to-all reaches.
struct AllToAllRates {
  double local = 0;    ///< B/s to ranks of its node
  double network = 0;  ///< B/s to other nodes; 0: there are none
  double fixed_ns = 0;
};
/// `keeps_rails`: what goes to another node leaves by the port that faces its destination.
[[nodiscard]] AllToAllRates all_to_all_rates(const Cluster& cluster, const Placement& group,
                                             bool keeps_rails, Bound bound = Bound::point);

}  // namespace foretrace
