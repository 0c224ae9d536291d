// Constants quoted from NCCL 2.30.7, src/graph/tuning.cc, topo.h and search.cc; code is our own.
#include "models/hardware/collectives/nccl_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace foretrace::nccl {
namespace {

constexpr std::size_t protocols = 3;
using ByProtocol = std::array<double, protocols>;  // LL, LL128, Simple

// Microseconds.
constexpr ByProtocol tree_base = {6.8, 14, 8.4};
constexpr ByProtocol ring_base = {6.6, 14, 8.4};
constexpr ByProtocol tree_nvlink = {0.6, 1.25, 4.0};
constexpr ByProtocol ring_nvlink = {0.6, 1.9, 3.4};
constexpr ByProtocol tree_pcie = {1.0, 1.9, 4.0};
constexpr ByProtocol ring_pcie = {1.0, 2.5, 5.7};
constexpr ByProtocol tree_network = {5.0, 8.5, 14};
constexpr ByProtocol ring_network = {2.7, 4.0, 14};
constexpr double nvls_base = 25;
constexpr double nvls_network = 18;
constexpr double nvls_tree_network = 20.9;

// GB/s for one, two, and three or more nodes, by generation: Volta, Ampere, Hopper, Blackwell.
using ByNodes = std::array<double, 3>;
constexpr std::array<ByNodes, 4> ll_most = {
    {{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}}};
constexpr std::array<double, 4> ring_ll128 = {20, 20, 36.7, 40};
constexpr std::array<ByNodes, 4> tree_ll128 = {
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}}};
constexpr std::array<ByNodes, 4> tree_most = {
    {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}}};
constexpr std::array<ByNodes, 4> nvls_tree_most = {
    {{0, 0, 0}, {0, 0, 0}, {0, 57.7, 45.5}, {0, 96, 80}}};
constexpr std::array<double, 4> nvls_efficiency = {0, 0, 0.85, 0.74};
// GB/s of a link of NVLink in NCCL's topology (src/graph/topo.h), and on the data sheet.
constexpr std::array<double, 4> nvlink_rate = {20, 20, 20.6, 40.1};
constexpr std::array<double, 4> nvlink_sheet = {25, 25, 25, 50};

// Tree bandwidth by floor(log2(bytes / 64)).
constexpr std::array tree_ll_factor = {1., 1., 1., 1., .9, .8, .7, .7, .7, .7, .6, .5,
                                       .4, .4, .5, .6, .7, .8, .9, 1., 1., 1., 1.};
constexpr std::array tree_ll128_factor = {1., 1., 1., 1., 1., .9, .8, .8, .8, .7, .6, .6,
                                          .6, .6, .6, .6, .8, .9, .9, .9, .9, 1., 1.};
constexpr std::array tree_simple_factor = {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
                                           .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9};

// Speeds that the search tries, GB/s.
constexpr std::array ampere_speeds = {48., 30., 28., 24., 20., 18., 15., 12.,
                                      10., 9.,  7.,  6.,  5.,  4.,  3.};
constexpr std::array hopper_speeds = {48., 45., 42., 40., 30., 24., 22.,
                                      20., 18., 15., 12., 6.,  3.};
constexpr std::array blackwell_speeds = {96., 86., 80., 48., 45., 42., 40.,
                                         30., 24., 22., 20., 12., 6.};

std::size_t row_of(Generation generation) {
  return std::min<std::size_t>(static_cast<std::size_t>(generation), 3);
}
std::size_t column_of(const Placement& group) {
  return group.nodes <= 1 ? 0 : group.nodes == 2 ? 1 : 2;
}

// Direct links go between all accelerators of a group in a node; of more than one pair the ring
// leaves its bridges.
bool is_joined(const Cluster& cluster, double per_node) {
  return cluster.links == NodeLinks::nvswitch || cluster.links == NodeLinks::mesh ||
         (cluster.links == NodeLinks::pairs && per_node <= 2);
}

// Links that are not NVLink have the rate of their data sheet, and no search tries steps of it.
bool has_nvlink(const Cluster& cluster, double per_node) {
  return cluster.generation != Generation::other && is_joined(cluster, per_node);
}

double speed_below(Generation generation, double limit) {
  const auto largest = [limit](const auto& speeds) {
    const auto found = std::find_if(speeds.begin(), speeds.end(),
                                    [limit](double speed) { return speed <= limit * 1.0001; });
    // Slower than the slowest that NCCL tries: as it is.
    return found == speeds.end() ? limit : *found;
  };
  switch (generation) {
    case Generation::hopper: return largest(hopper_speeds);
    case Generation::blackwell: return largest(blackwell_speeds);
    case Generation::volta:
    case Generation::ampere: return largest(ampere_speeds);
    case Generation::other: return limit;
  }
  return limit;
}

struct Link {
  bool nvlink = true;
  [[nodiscard]] const ByProtocol& tree() const { return nvlink ? tree_nvlink : tree_pcie; }
  [[nodiscard]] const ByProtocol& ring() const { return nvlink ? ring_nvlink : ring_pcie; }
};

struct Question {
  const Cluster& cluster;
  const Placement& group;
  CollectiveKind kind;
  double bytes;
  double efficiency;
  Channels channels;
  Link link;
  [[nodiscard]] double ranks() const { return group.ranks; }
  [[nodiscard]] double nodes() const { return group.nodes; }
  [[nodiscard]] bool all_reduce() const { return kind == CollectiveKind::all_reduce; }
};

// Bytes in sequence that a ring needs, in buffers of 1 / n.
double ring_steps(const Question& q) {
  switch (q.kind) {
    case CollectiveKind::all_reduce: return 2 * (q.ranks() - 1);
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce: return q.ranks();
    default: return q.ranks() - 1;
  }
}

double time_us(double latency_us, double bytes, double gigabytes_per_s) {
  return latency_us + bytes / (gigabytes_per_s * 1e3);
}

double network_us(const Question& q, double hardware, Protocol protocol) {
  const double extra = q.cluster.network.step_latency_ns * 1e-3;
  return hardware + (protocol == Protocol::simple ? 2 : 1) * extra;
}

// Channels that start cost a ring between nodes what they cost inside one: two per accelerator
// (src/graph/connect.cc), fewer for a small buffer, which must have so many bytes for each thread
// (src/enqueue.cc).
double launched_us(const Question& q, Protocol protocol) {
  double each_ns = 0;
  for (const LocalRegime& regime : q.cluster.regimes) {
    each_ns = std::max(each_ns, regime.per_channel_ns);
  }
  constexpr ByProtocol least_bytes = {512 * 8, 640 * 8, 512 * 64};
  const double ranks = protocol == Protocol::ll ? q.ranks() : 1;
  const double most =
      std::clamp(2.0 * q.group.per_node, 1.0, std::max(1.0, 1.0 * q.cluster.channels));
  const double used =
      std::floor(q.bytes / (least_bytes[static_cast<std::size_t>(protocol)] * ranks));
  return each_ns * 1e-3 * std::clamp(used, 1.0, most);
}

// A rank of a ring passes on a slice, half of its chunk, while the other half still arrives: the
// latency of a step hides behind that half. A chunk is four of the eight steps of a buffer of 4 MiB
// (src/include/collectives.h); what is larger goes round again.
double in_slices_us(const Question& q, double bus, double between, double inside_us,
                    double hop_us) {
  constexpr double most_chunk = 2.0 * 1024 * 1024;
  const double launched = 2 * q.channels.count;  // twice what the search finds
  const double part = q.bytes / q.ranks() / launched;
  const double chunk = std::min(part, most_chunk);
  const double chunk_us = chunk / (bus / launched * 1e3);
  const auto step_us = [chunk_us](double latency) {
    return std::max(chunk_us, chunk_us / 2 + latency);
  };
  const double steps = ring_steps(q);
  const double first = (steps - between) * step_us(inside_us) + between * step_us(hop_us) + hop_us;
  const double more = part > most_chunk ? part / most_chunk - 1 : 0;  // chunks behind the first
  return first + more * steps * chunk_us;
}

double share_of_network(const Question& q) {
  return q.group.nodes > 1 ? q.efficiency / q.group.oversubscription : 1;
}

double ring_us(const Question& q, Protocol protocol) {
  const auto p = static_cast<std::size_t>(protocol);
  const std::size_t row = row_of(q.cluster.generation);
  const double count = q.channels.count;
  double bus = count * q.channels.ring;
  if (protocol == Protocol::ll) bus = std::min(ll_most[row][column_of(q.group)], bus / 2);
  if (protocol == Protocol::ll128) bus = std::min(0.92 * bus, count * ring_ll128[row]);
  bus *= share_of_network(q);
  const double steps = ring_steps(q);
  if (q.group.nodes <= 1) {
    const double latency = ring_base[p] + steps * q.link.ring()[p];
    return time_us(latency, q.bytes, bus * q.ranks() / steps);
  }
  const double between = q.all_reduce() ? 2 * (q.nodes() - 1) : q.nodes() - 1;
  // The host posts each message to the network: 1 us, three times that for Simple.
  const double post = protocol == Protocol::simple ? 3.0 : 1.0;
  const double inside_us = std::max(q.link.ring()[p], post);
  // With one accelerator per node NCCL takes the tree's figure of the network.
  const double hardware = q.group.per_node == 1 ? tree_network[p] : ring_network[p];
  const double hop_us = network_us(q, hardware, protocol);
  const double start = ring_base[p] + launched_us(q, protocol);
  if (protocol == Protocol::simple) {
    return start + in_slices_us(q, bus, between, inside_us, hop_us);
  }
  const double latency = start + std::max(0.0, steps - between) * inside_us + between * hop_us;
  return time_us(latency, q.bytes, bus * q.ranks() / steps);
}

double tree_us(const Question& q, Protocol protocol) {
  const auto p = static_cast<std::size_t>(protocol);
  const std::size_t row = row_of(q.cluster.generation);
  const std::size_t column = column_of(q.group);
  const double count = q.channels.count;
  const double speed = q.group.nodes <= 2 ? q.channels.tree_inside : q.channels.between;
  const double bus = std::min(0.92 * count * speed, count * tree_most[row][column]);
  const auto size = static_cast<std::size_t>(
      std::clamp(std::floor(std::log2(std::max(q.bytes, 64.0) / 64)), 0.0, 22.0));
  double rate = bus;
  if (protocol == Protocol::ll)
    rate = std::min(bus / 3.8, ll_most[row][column]) * tree_ll_factor[size];
  if (protocol == Protocol::ll128) {
    rate = std::min(bus * (q.group.nodes == 1 ? 7. / 9 : 120. / 128),
                    count * tree_ll128[row][column]) *
           tree_ll128_factor[size];
  }
  if (protocol == Protocol::simple) rate *= tree_simple_factor[size];
  rate *= share_of_network(q);
  double latency = tree_base[p] + 2 * (q.group.per_node - 1) * q.link.tree()[p];
  if (q.group.nodes > 1) {
    latency += 2 * std::floor(std::log2(q.nodes())) * network_us(q, tree_network[p], protocol);
  }
  return time_us(latency, q.bytes, rate / 2);
}

constexpr double kib = 1024;

// Channels that carry one chunk of each accelerator of a node, and the largest chunk.
struct NvlsTree {
  double channels = 16;
  double chunk = 0;
};

// ncclNvlsChannels and ncclNvlsTreeSm100Tuning of src/transport/nvls.cc, for ports that are not behind
// a PCIe switch.
NvlsTree nvls_tree_of(const Question& q) {
  const bool blackwell = q.cluster.generation == Generation::blackwell;
  const NvlsTree tree{blackwell ? 32.0 : 16.0, (q.group.nodes < 4 ? 128 : 64) * kib};
  // NCCL_NVLSTREE_MAX_CHUNKSIZE as the plugin of EFA sets it (src/platform-aws.cpp of aws-ofi-nccl).
  if (q.cluster.network.kind == "efa") return {tree.channels, 512 * kib};
  const double port = q.cluster.network.nic_bandwidth * 1e-9;
  if (!blackwell || port < 48) return tree;
  const double inside = q.group.per_node;
  if (q.group.nodes == 2) return {32, (inside <= 4 ? 256 : inside >= 16 ? 64 : 128) * kib};
  if (port < 96) return {24, 128 * kib};
  if (inside <= 8) return {24, 256 * kib};
  return {32, (inside >= 32 ? 64 : 128) * kib};
}

// A chunk passes the switch of its node, the tree up and down, and the switch again, and only later
// chunks overlap with that: the bytes that go before the first is there. Chunks shrink with the
// buffer (calcCollChunking of src/enqueue.cc).
double fill_bytes(const Question& q) {
  constexpr std::array<std::array<double, 2>, 4> smaller = {
      {{32, 256 * kib}, {16, 128 * kib}, {4, 64 * kib}, {1, 32 * kib}}};
  auto [channels, chunk] = nvls_tree_of(q);
  const double at_once = channels * q.group.per_node;
  for (const auto& [times, most] : smaller) {
    if (q.bytes < times * at_once * chunk) chunk = std::min(chunk, most);
  }
  const double stages = 2 * std::floor(std::log2(q.nodes())) + 2;
  return (stages - 1) * std::min(q.bytes, at_once * chunk);
}

// The switch of a node multicasts and adds up; between nodes a tree.
std::optional<double> nvls_us(const Question& q) {
  const std::size_t row = row_of(q.cluster.generation);
  if (!(q.channels.nvls > 0) || !q.all_reduce() || !(nvls_efficiency[row] > 0)) return std::nullopt;
  const double count = q.channels.count;
  double per_channel = 2 * q.channels.nvls * nvls_efficiency[row] * (count - 1) / count;
  double latency = nvls_base;
  double bytes = q.bytes;
  if (q.group.nodes > 1) {
    bytes += fill_bytes(q);
    const double between = q.channels.nvls * (q.group.nodes == 2 ? 2 : 1);
    const double inside = 2 * q.channels.links / count * nvls_efficiency[row];
    per_channel = std::min({per_channel, between, inside, nvls_tree_most[row][column_of(q.group)]});
    latency +=
        2 * std::floor(std::log2(q.nodes())) * network_us(q, nvls_tree_network, Protocol::ll);
  }
  const double bus = count * per_channel * share_of_network(q);
  return time_us(latency, bytes, bus * q.ranks() / ring_steps(q));
}

constexpr double channels_of_all = 32;
constexpr double operations_of_channel = 4;

// Of so many channels, those that one of `ranks` peers keeps: halved until all have theirs
// (src/graph/paths.cc).
double channels_of_peer(double channels, double ranks, double of_all) {
  while (channels * ranks > of_all && channels > 1) channels /= 2;
  return channels;
}

}  // namespace

std::string_view to_string(Algorithm algorithm) {
  constexpr std::array<std::string_view, 4> names = {"ring", "tree", "nvls", "nvls tree"};
  return names[static_cast<std::size_t>(algorithm)];
}

Channels find_channels(const Cluster& cluster, const Placement& group) {
  const Generation generation = cluster.generation;
  const bool nvlink = has_nvlink(cluster, group.per_node);
  const double links =
      links_inside(cluster, group.per_node) * 1e-9 * links_share(cluster, group.per_node);
  Channels channels;
  channels.links = links;
  if (group.nodes <= 1) {
    // The search fills the links of an accelerator with channels of equal speed.
    const double speed = generation == Generation::hopper      ? 30
                         : generation == Generation::blackwell ? 40
                                                               : 20;
    channels.count = nvlink ? std::max(1.0, std::floor(links / speed)) : 1;
    channels.ring = nvlink ? speed : links;
    channels.tree_inside = channels.ring;
    channels.between = channels.ring;
    return channels;
  }
  const double nics = std::max(group.nics, 1e-9);
  const double nic = cluster.network.nic_bandwidth * 1e-9 * std::min(1.0, nics);
  channels.count = std::max(1.0, nics);
  const auto inside_of = [&](double count) { return group.per_node > 1 ? links / count : nic; };
  const auto speed_of = [&](double count) {
    return speed_below(generation, std::min(nic, inside_of(count)));
  };
  // Speeds are coarse: where the links of a node bound them, fewer ports may carry more.
  double best = channels.count * speed_of(channels.count);
  for (int fewer = static_cast<int>(std::ceil(channels.count)) - 1; fewer >= 1; --fewer) {
    const double count = fewer;
    if (count * speed_of(count) <= best) continue;
    best = count * speed_of(count);
    channels.count = count;
  }
  const double inside = inside_of(channels.count);
  channels.between = speed_of(channels.count);
  channels.ring = channels.between;
  channels.tree_inside = speed_below(generation, std::min(2 * channels.between, inside));
  const bool multicast = cluster.links == NodeLinks::nvswitch && group.per_node > 4;
  if (multicast) channels.nvls = speed_below(generation, nic);
  return channels;
}

double links_share(const Cluster& cluster, double per_node) {
  const std::size_t row = row_of(cluster.generation);
  return has_nvlink(cluster, per_node) ? nvlink_rate[row] / nvlink_sheet[row] : 1;
}

double links_inside(const Cluster& cluster, double per_node) {
  const bool by_host = cluster.links == NodeLinks::pairs && !is_joined(cluster, per_node) &&
                       cluster.host_link_bandwidth > 0;
  return by_host ? cluster.host_link_bandwidth : cluster.link_bandwidth;
}

double send_start_ns(const Cluster& cluster, const Placement& group, double bytes) {
  constexpr double most_ll = 16384;  // NCCL_P2P_LL_THRESHOLD
  const Protocol protocol = bytes <= most_ll ? Protocol::ll : Protocol::simple;
  const auto p = static_cast<std::size_t>(protocol);
  if (group.nodes <= 1) {
    const Link link{is_joined(cluster, group.per_node)};
    return (ring_base[p] + link.ring()[p]) * 1e3;
  }
  // Once: what NCCL adds to a step of Simple once more is a flush, a read inside of the node.
  return (ring_base[p] + ring_network[p]) * 1e3 + cluster.network.step_latency_ns;
}

double peer_ns_inside(const Cluster& cluster, const Placement& group, double bytes) {
  if (!has_nvlink(cluster, group.per_node)) return 0;
  constexpr double most_part = 16.0 * 1024 * 1024;  // 32 of the eight steps of 4 MiB
  double channels = channels_of_peer(channels_of_all, group.ranks, channels_of_all);
  const double most =
      channels_of_peer(channels_of_all, group.ranks, channels_of_all * operations_of_channel);
  double part = bytes / channels;
  double least_part = 0;  // of the largest message with fewer channels
  while (part > most_part && channels <= most / 2) {
    channels *= 2;
    part = bytes / channels;
    least_part = most_part;
  }
  return std::max(part, least_part) / nvlink_rate[row_of(cluster.generation)];
}

double peer_rate(const Placement& group) {
  constexpr double channel = 18.3e9;
  return channels_of_peer(2, group.ranks, channels_of_all * operations_of_channel) * channel;
}

Choice fastest(const Cluster& cluster, const Placement& group, CollectiveKind kind, double bytes,
               double efficiency) {
  const Question q{cluster,
                   group,
                   kind,
                   bytes,
                   efficiency,
                   find_channels(cluster, group),
                   {is_joined(cluster, group.per_node)}};
  Choice best;
  best.ns = HUGE_VAL;
  const auto offer = [&best](double us, Algorithm algorithm, Protocol protocol) {
    if (us * 1e3 < best.ns) best = {us * 1e3, algorithm, protocol};
  };
  for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
    // LL128 needs NVLink to keep 128 bytes together.
    if (protocol == Protocol::ll128 && !q.link.nvlink) continue;
    offer(ring_us(q, protocol), Algorithm::ring, protocol);
    if (q.all_reduce()) offer(tree_us(q, protocol), Algorithm::tree, protocol);
  }
  if (const auto us = nvls_us(q)) {
    offer(*us, group.nodes > 1 ? Algorithm::nvls_tree : Algorithm::nvls, Protocol::simple);
  }
  return best;
}

}  // namespace foretrace::nccl
