// Cluster: nodes of accelerators, the links inside and between them, read from configs/clusters.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/catalogue/catalogue.h"
#include "models/hardware/catalogue/evidence.h"
#include "models/hardware/catalogue/sources.h"
#include "sim/core/config.h"
#include "sim/core/ranged.h"
#include "sim/core/result.h"
#include "sim/graph/task.h"

namespace foretrace {

/// What joins the accelerators of a node.
enum class NodeLinks : std::uint8_t {
  nvswitch,  ///< every pair at full rate
  mesh,      ///< direct links, some pairs have none (DGX-1)
  pairs,     ///< pairs joined by a bridge, the pairs by PCIe
  pcie,
  torus,  ///< a pod of chips, each joined to its neighbours
  none    ///< one accelerator
};

/// Chips whose constants differ in NCCL's own model.
enum class Generation : std::uint8_t { volta, ampere, hopper, blackwell, other };
[[nodiscard]] std::string_view to_string(Generation generation);

/// One way in which a collective runs among the accelerators of a node; the fastest one counts.
/// T = fixed + per_rank (n - 1) + per_channel c + V / bandwidth, with V the bytes that a rank sends
/// and c the channels that a message of this size uses.
struct LocalRegime {
  std::string name;
  double fixed_ns = 0;
  double per_rank_ns = 0;
  double per_channel_ns = 0;
  double bandwidth = 0;     ///< B/s
  bool in_network = false;  ///< the switch adds up: V = (n + 1) / n of the buffer; all-reduce only
};

/// A measured collective: time by buffer size for one number of ranks and nodes.
struct MeasuredCurve {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::uint32_t ranks = 0;
  std::uint32_t nodes = 1;
  std::vector<double> bytes;  ///< ascending
  std::vector<double> ns;
  std::string source;
};

/// Switches between nodes that add up what comes in at their ports and send the sum back down:
/// trees over leaves and spines.
struct SwitchAggregation {
  std::uint32_t trees = 0;      ///< that one sum is spread over; 0: the switches do not add up
  double port_rate = 0;         ///< B/s that the element of one port adds up
  double level_latency_ns = 0;  ///< of one level of switches, up and down
  double start_ns = 0;          ///< before the first byte leaves
};

/// The network between nodes as one node sees it.
struct Network {
  std::string kind;              ///< "infiniband", "roce", "efa", "slingshot", "ethernet"
  std::uint32_t nics = 0;        ///< per node; 0: nodes are not joined
  double nic_bandwidth = 0;      ///< B/s, one direction
  double step_latency_ns = 0;    ///< of one message from node to node, beyond NCCL's own
  Ranged efficiency;             ///< share of the line rate that collectives reach
  bool forwards_rails = true;    ///< messages change rails inside a node (NCCL's PXN)
  std::uint32_t leaf_nodes = 0;  ///< nodes under one leaf switch; 0: one switch for all
  double oversubscription = 1;   ///< of the links above the leaves
  SwitchAggregation aggregation;
};

/// How a collective runs among the members of a tier.
enum class TierAlgorithm : std::uint8_t {
  ring,
  direct,            ///< everybody sends to everybody at once
  halving_doubling,  ///< by powers of two
  stated             ///< the tier has a factor for it
};

/// What joins the members of a tier.
enum class TierLinks : std::uint8_t {
  ring,             ///< one link to each neighbour
  fully_connected,  ///< one link to everybody else
  switched          ///< one link to a switch
};

/// A stated collective takes latency + scalar (1 + offset / n) bytes / bandwidth among n members.
struct TierFactor {
  double scalar = 1;
  double offset = 0;
  bool in_turns = false;  ///< n - 1 messages one after the other, each with the latency
};

/// One level of a network that another simulator's file describes, or one axis of a torus.
struct Tier {
  std::uint32_t size = 1;  ///< members: accelerators, or groups of the tier below
  TierLinks links = TierLinks::switched;
  double bandwidth = 0;   ///< B/s of one link of an accelerator, one direction
  double latency_ns = 0;  ///< of one link
  /// Of all-reduce, all-gather, reduce-scatter, all-to-all.
  std::array<TierAlgorithm, 4> algorithms{};
  std::array<TierFactor, 4> factors{};  ///< where the algorithm is `stated`
};
inline constexpr std::size_t most_tiers = 5;

/// A network whose collectives follow the formulas of collectives/tier_costs.h instead of NCCL's
/// model: those of the simulator that its file is from, and rings by axis for a torus of ours.
struct TierNetwork {
  std::vector<Tier> tiers;  ///< from the nearest on; empty: there is none
  /// A collective passes every tier that its group reaches over; else the widest one carries it.
  bool passes_all = false;
  /// An all-reduce scatters up to the widest tier and gathers on the way back; else every tier adds
  /// up the whole buffer.
  bool divides_all_reduce = true;
  std::uint32_t chunks = 1;  ///< that a buffer is cut into, which pass the tiers behind each other
};

struct Cluster {
  std::string name;     ///< file stem
  std::string machine;  ///< for people
  Accelerator accelerator;
  Generation generation = Generation::other;
  std::uint32_t nodes = 1;
  std::uint32_t node_accelerators = 1;
  NodeLinks links = NodeLinks::none;
  double link_bandwidth = 0;      ///< B/s of one accelerator, one direction, all links together
  double link_latency_ns = 0;     ///< of a message between two accelerators of a node
  std::uint32_t torus_links = 0;  ///< torus: links of a chip (4 or 6); link_bandwidth is of all
  /// Nodes of direct links: B/s of all rings that these allow, by accelerators; 0: there is none.
  std::vector<double> ring_rates;
  std::uint32_t channels = 0;  ///< of a collective inside a node at most; 0: not counted
  std::vector<LocalRegime> regimes;
  Network network;
  TierNetwork tier_network;        ///< has the last word where it has tiers
  double host_link_bandwidth = 0;  ///< B/s between an accelerator and its host
  std::vector<MeasuredCurve> curves;
  /// The machine that this one is with fields changed; null: none. Where that has curves,
  /// collectives take as much longer or shorter than there as the models of both say.
  std::shared_ptr<const Cluster> changed_from;
  double price_per_hour = 0;  ///< of one accelerator; 0: not stated
  bool is_usual = false;      ///< the machine that is meant where only its accelerator is known
  FigureSources sources;
  /// Measured collectives of this and other machines; null: of no catalogue.
  std::shared_ptr<const Evidence> evidence;
  /// Of another program's file: what in it has no counterpart here.
  std::vector<std::string> notes;

  [[nodiscard]] std::uint32_t accelerators() const { return nodes * node_accelerators; }
};

/// A cluster of the catalogue, or the file if it is not in there: one of ours, or one of another
/// simulator that an importer knows. "dgx_h100:nic_bandwidth=25GB/s" is the first with fields
/// changed, see changed_cluster().
[[nodiscard]] Result<Cluster> find_cluster(const Catalogue& catalogue, std::string_view name);
/// One accelerator, of the catalogue or of a file, alone: a cluster that is called as it is.
[[nodiscard]] Result<std::shared_ptr<const Cluster>> lone_accelerator(const Catalogue& catalogue,
                                                                      std::string_view name);
/// Reads JSON text; `where` stands in messages and its stem is the name.
[[nodiscard]] Result<Cluster> parse_cluster(const Catalogue& catalogue, std::string_view text,
                                            const std::string& where);
/// What stands at /aggregation of a scenario, in place of the file's. Errors begin with the
/// pointer.
[[nodiscard]] Result<Cluster> with_aggregation(Cluster cluster, const ConfigValue& object,
                                               const std::string& where,
                                               const std::string& pointer);
/// Names of every cluster found, sorted.
[[nodiscard]] std::vector<std::string> cluster_names(const Catalogue& catalogue);

/// "the 16 accelerators of 'dgx_h100:nodes=2'", for who asked for more; and how to have
/// as many, where nodes can be added.
[[nodiscard]] std::string accelerators_of(const Cluster& cluster, std::uint64_t asked);

}  // namespace foretrace
