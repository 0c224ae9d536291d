// NCCL's own model of its algorithms and protocols (src/graph/tuning.cc of NCCL 2.30.7, 2026): the
// times by which it chooses, with the latency and the efficiency of the fabric put in.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/hardware/networks/cluster.h"
#include "models/hardware/networks/placement.h"
#include "sim/graph/task.h"

namespace foretrace::nccl {

enum class Algorithm : std::uint8_t { ring, tree, nvls, nvls_tree };
enum class Protocol : std::uint8_t { ll, ll128, simple };
[[nodiscard]] std::string_view to_string(Algorithm algorithm);

/// What the search over links finds: channels, and GB/s of each.
struct Channels {
  double count = 1;
  double ring = 0;         ///< of a ring, inside and between nodes
  double tree_inside = 0;  ///< of a tree inside a node (counts for two nodes at most)
  double between = 0;      ///< between nodes
  double links = 0;        ///< of one accelerator inside its node, all channels together
  double nvls = 0;         ///< of the multicast of a switch; 0: none
};

/// What NCCL would find for this group. NVLink counts with the rate NCCL takes for it.
[[nodiscard]] Channels find_channels(const Cluster& cluster, const Placement& group);

/// B/s of the direct links of an accelerator to the others of its group in a node; pairs that
/// bridges join reach other pairs through their host.
[[nodiscard]] double links_inside(const Cluster& cluster, double per_node);

/// What NCCL counts of the links of a data sheet: 0.80 to 0.82 of NVLink, 1 of others.
[[nodiscard]] double links_share(const Cluster& cluster, double per_node);

/// Of a message to one other rank, beside its bytes: by LL up to 16 KiB, by Simple above.
[[nodiscard]] double send_start_ns(const Cluster& cluster, const Placement& group, double bytes);

/// What the channels of a message to one peer of the same node take at least where as much comes
/// back, beside its start: a channel then keeps one link of NVLink busy, and a message has its share
/// of the 32 of all, twice as many where parts are above 16 MiB (calcP2pChannelCount,
/// scheduleP2pTasksToPlan of src/enqueue.cc). 0 without NVLink.
[[nodiscard]] double peer_ns_inside(const Cluster& cluster, const Placement& group, double bytes);

/// B/s that one peer on another node gets at most: two channels, one where these would be more than
/// four times the 32 of all (src/graph/paths.cc). A channel carries 18.3 GB/s: sendrecv_perf on 8
/// nodes of 4 GH200, github.com/NVIDIA/nccl/issues/1272.
[[nodiscard]] double peer_rate(const Placement& group);

struct Choice {
  double ns = 0;
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
};

/// The fastest algorithm and protocol for a buffer of this size (that of nccl-tests: the whole
/// gathered buffer of an all-gather). `efficiency` is the share of the network's rate.
[[nodiscard]] Choice fastest(const Cluster& cluster, const Placement& group, CollectiveKind kind,
                             double bytes, double efficiency);

}  // namespace foretrace::nccl
