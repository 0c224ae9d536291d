#include "models/hardware/collectives/collective_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "models/hardware/collectives/carried_curve.h"
#include "models/hardware/collectives/measured_curve.h"
#include "models/hardware/collectives/nccl_model.h"
#include "models/hardware/collectives/switch_aggregation.h"
#include "models/hardware/collectives/tier_costs.h"

namespace foretrace {
namespace {

// All-to-all: fitted to half of the Sophia (HDR) and cluster01 (NDR) rows of measured nccl-tests;
// the other half is met within 5 % (Sophia) and 3 % (cluster01) from 64 MiB on.
constexpr double all_to_all_local_ns = 30e3;
constexpr double all_to_all_fixed_ns = 61e3;
constexpr double all_to_all_local_share = 0.95;    // of the NVLink rate that NCCL takes
constexpr double all_to_all_network_share = 0.89;  // of the NICs
// Where messages change rails on the way: p5 table of UCCL and Polaris.
constexpr double cross_rail_share = 0.40;

// The proxy of a rank posts its messages to other nodes one after the other, while a step waits for
// one to arrive: a fifth of its latency, as cluster01 (0.18) and Polaris (0.20) agree.
constexpr double all_to_all_peer_share = 0.2;
constexpr double send_link_share = 0.85;

double at_bound(const Ranged& range, Bound bound) {
  switch (bound) {
    case Bound::point: return range.typical;
    case Bound::optimistic: return range.high;
    case Bound::pessimistic: return range.low;
  }
  return range.typical;
}

// Channels of a message of this size: from 4 KiB per channel and rank on.
double channels_used(const Cluster& cluster, const CollectiveCall& call) {
  if (cluster.channels == 0) return 0;
  const double used = std::floor(call.bytes / (4096.0 * call.group.ranks));
  return std::clamp(used, 1.0, static_cast<double>(cluster.channels));
}

/// What direct links between accelerators allow; where no ring goes through all, their host does.
double rate_of_rings(const Cluster& cluster, std::uint32_t ranks) {
  if (ranks >= cluster.ring_rates.size()) return HUGE_VAL;
  const double rings = cluster.ring_rates[ranks];
  return rings > 0 || !(cluster.host_link_bandwidth > 0) ? rings : cluster.host_link_bandwidth;
}

std::optional<CollectiveTime> by_regimes(const Cluster& cluster, const CollectiveCall& call) {
  if (call.group.nodes > 1 || cluster.regimes.empty()) return std::nullopt;
  const double n = call.group.ranks;
  const bool all_reduce = call.kind == CollectiveKind::all_reduce;
  // Half of an all-reduce: half of its steps and bytes.
  const double half = all_reduce ? 1 : 0.5;
  CollectiveTime best{HUGE_VAL, Provenance::table, {}};
  for (const LocalRegime& regime : cluster.regimes) {
    if (regime.in_network && (!all_reduce || n <= 4)) continue;
    const double sent = regime.in_network ? call.bytes * (n + 1) / n : sent_bytes(call);
    const double rate = std::min(regime.bandwidth, rate_of_rings(cluster, call.group.ranks));
    const double ns = regime.fixed_ns + half * regime.per_rank_ns * (n - 1) +
                      regime.per_channel_ns * channels_used(cluster, call) + sent / rate * 1e9;
    if (ns < best.ns) best = {ns, Provenance::table, regime.name};
  }
  return best;
}

CollectiveTime all_to_all(const Cluster& cluster, const CollectiveCall& call, Bound bound) {
  const double n = call.group.ranks;
  const bool keeps_rails = cluster.network.forwards_rails || call.group.per_node == 1;
  const AllToAllRates rates = all_to_all_rates(cluster, call.group, keeps_rails, bound);
  double seconds = call.bytes * (call.group.per_node - 1) / n / rates.local;
  double start_ns = rates.fixed_ns;
  if (call.group.nodes > 1) {
    const double peers = n - call.group.per_node;
    seconds = std::max(seconds, call.bytes * peers / n / rates.network);
    start_ns = std::max(start_ns, all_to_all_local_ns + peers * all_to_all_peer_share *
                                                            cluster.network.step_latency_ns);
  }
  return {start_ns + seconds * 1e9, Provenance::table, "pairwise"};
}

CollectiveTime send(const Cluster& cluster, const CollectiveCall& call, double efficiency) {
  const double start_ns = nccl::send_start_ns(cluster, call.group, call.bytes);
  if (call.group.nodes <= 1) {
    const double rate = nccl::links_inside(cluster, call.group.per_node) * send_link_share;
    const bool both_ways = call.kind == CollectiveKind::send_receive;
    const double least_ns = both_ways ? nccl::peer_ns_inside(cluster, call.group, call.bytes) : 0;
    const double ns = std::max(call.bytes / rate * 1e9, least_ns);
    return {start_ns + ns, Provenance::roofline, "send inside a node"};
  }
  const double nics = std::max(call.group.nics / call.group.per_node, 1e-9);
  double rate = cluster.network.nic_bandwidth * std::min(nics, 1.0) * efficiency;
  if (cluster.generation != Generation::other) rate = std::min(rate, nccl::peer_rate(call.group));
  return {start_ns + call.bytes / rate * 1e9, Provenance::roofline, "send between nodes"};
}

CollectiveTime modelled(const Cluster& cluster, const CollectiveCall& call, Bound bound) {
  const double efficiency = at_bound(cluster.network.efficiency, bound);
  switch (call.kind) {
    case CollectiveKind::all_to_all: return all_to_all(cluster, call, bound);
    case CollectiveKind::send:
    case CollectiveKind::receive:
    case CollectiveKind::send_receive: return send(cluster, call, efficiency);
    default: break;
  }
  if (const auto inside = by_regimes(cluster, call)) return *inside;
  const nccl::Choice choice = nccl::fastest(cluster, call.group, call.kind, call.bytes, efficiency);
  return {choice.ns, Provenance::roofline, nccl::to_string(choice.algorithm)};
}

CollectiveTime measured_or_modelled(const Cluster& cluster, const CollectiveCall& call,
                                    Bound bound);

/// A sum that all get is a scattered sum, gathered: where it was measured, or is carried from
/// curves, these two take no less.
CollectiveTime at_least_half_of_sum(const Cluster& cluster, const CollectiveCall& call,
                                    Bound bound) {
  CollectiveTime time = modelled(cluster, call, bound);
  if (call.kind != CollectiveKind::all_gather && call.kind != CollectiveKind::reduce_scatter) {
    return time;
  }
  CollectiveCall sum = call;
  sum.kind = CollectiveKind::all_reduce;
  if (!measured_time(cluster, sum) && !carried_time(cluster, sum)) return time;
  const CollectiveTime whole = measured_or_modelled(cluster, sum, bound);
  if (whole.ns / 2 <= time.ns) return time;
  return {whole.ns / 2, whole.provenance, "half of the all-reduce of its curve"};
}

/// Beyond the largest buffer that was measured it grows as the model does: what is fixed is not
/// there again.
CollectiveTime beyond_curve(const Cluster& cluster, const CollectiveCall& call, Bound bound) {
  CollectiveCall largest = call;
  largest.bytes = last_measured(cluster, call);
  const double last_ns = measured_time(cluster, largest)->ns;
  CollectiveTime time = modelled(cluster, call, bound);
  const double growth = time.ns / modelled(cluster, largest, bound).ns;
  time.ns = std::max(last_ns * growth, time_on_links(cluster, call));
  time.basis = "beyond its curve as its model grows";
  return time;
}

/// Measured where it was, else by the libraries' algorithms: sums are made by the accelerators, or
/// by the switch of a node.
CollectiveTime measured_or_modelled(const Cluster& cluster, const CollectiveCall& call,
                                    Bound bound) {
  const auto measured = measured_time(cluster, call);
  if (!measured.has_value()) {
    const auto carried = carried_time(cluster, call);
    return carried.has_value() ? *carried : at_least_half_of_sum(cluster, call, bound);
  }
  const double first = first_measured(cluster, call);
  if (call.bytes > last_measured(cluster, call)) {
    const CollectiveTime beyond = beyond_curve(cluster, call, bound);
    return std::isfinite(beyond.ns) ? beyond : *measured;
  }
  if (call.bytes >= first) return *measured;
  // Below what was measured the model's slope counts, beginning at the first point.
  CollectiveCall smallest = call;
  smallest.bytes = first;
  const double first_ns = measured_time(cluster, smallest)->ns;
  const double scale = first_ns / modelled(cluster, smallest, bound).ns;
  CollectiveTime time = modelled(cluster, call, bound);
  time.ns = std::min(first_ns, time.ns * std::clamp(scale, 0.5, 2.0));
  return time;
}

/// The group on a machine whose fields were changed: with the same share of its network.
Placement placed_before(const Cluster& cluster, const Placement& group) {
  const Cluster& before = *cluster.changed_from;
  const double alone = place_alone(cluster, group.nodes, group.per_node).nics;
  Placement there = place_alone(before, group.nodes, group.per_node);
  there.ranks = group.ranks;
  if (alone > 0) there.nics *= group.nics / alone;
  return there;
}

CollectiveTime without_switches(const Cluster& cluster, const CollectiveCall& call, Bound bound) {
  if (cluster.changed_from == nullptr || cluster.changed_from->curves.empty()) {
    return measured_or_modelled(cluster, call, bound);
  }
  const Cluster& before = *cluster.changed_from;
  CollectiveCall there = call;
  there.group = placed_before(cluster, call.group);
  const CollectiveTime known = measured_or_modelled(before, there, bound);
  const CollectiveTime was = modelled(before, there, bound);
  CollectiveTime is = modelled(cluster, call, bound);
  if (is.ns == was.ns) return known;
  if (known.ns != was.ns && was.ns > 0 && std::isfinite(was.ns)) {
    is.ns *= known.ns / was.ns;
    is.basis = "curve of the machine unchanged, times the change of its model";
  }
  return is;
}

/// The machine whose evidence holds: the one that this one is with fields changed, where these
/// change nothing of the call (the number of nodes, a price, links that it does not use).
const Cluster& measured_machine(const Cluster& cluster, const CollectiveCall& call, double ns) {
  if (cluster.changed_from == nullptr) return cluster;
  CollectiveCall there = call;
  there.group = placed_before(cluster, call.group);
  const Cluster& before = *cluster.changed_from;
  return collective_time(before, there).ns == ns ? before : cluster;
}

/// The range that the evidence of its size alone gives.
CollectiveRange range_of_class(const Cluster& cluster, const CollectiveCall& call) {
  CollectiveRange range{.time = collective_time(cluster, call), .basis = {}};
  const double ns = range.time.ns;
  range.shortest_ns = std::min(ns, collective_time(cluster, call, Bound::optimistic).ns);
  range.longest_ns = std::max(ns, collective_time(cluster, call, Bound::pessimistic).ns);
  range.basis = "efficiency of the network in the machine's file";
  if (cluster.evidence == nullptr) return range;
  const MeasuredKind size = measured_kind(call.bytes, range.time.is_curve);
  const EvidenceRange evidence = evidence_range(
      cluster.evidence->of(size),
      {measured_machine(cluster, call, ns).name, to_string(call.kind), call.group.ranks});
  const double low = ns * evidence.factor.low;
  const double high = ns * evidence.factor.high;
  range.shortest_ns = evidence.is_new ? std::min(range.shortest_ns, low) : low;
  range.longest_ns = evidence.is_new ? std::max(range.longest_ns, high) : high;
  range.basis = evidence.basis;
  if (range.time.is_curve && evidence.is_new) {
    range.basis = fmt::format("its own curve, between points as far off as those of {} families",
                              cluster.evidence->of(size).families.size());
  }
  return range;
}

/// Sizes at which other evidence begins.
std::array<double, 4> class_edges(const Cluster& cluster, const CollectiveCall& call) {
  const Cluster& measured = measured_machine(cluster, call, collective_time(cluster, call).ns);
  const double last = last_measured(measured, call);
  return {collective_class_bytes[0], collective_class_bytes[1], first_measured(measured, call),
          std::nextafter(last, HUGE_VAL)};
}

}  // namespace

AllToAllRates all_to_all_rates(const Cluster& cluster, const Placement& group, bool keeps_rails,
                               Bound bound) {
  AllToAllRates rates;
  rates.fixed_ns = all_to_all_local_ns;
  rates.local = nccl::links_inside(cluster, group.per_node) *
                nccl::links_share(cluster, group.per_node) * all_to_all_local_share;
  if (group.nodes <= 1) return rates;
  const Ranged& range = cluster.network.efficiency;
  const double rails = keeps_rails ? all_to_all_network_share : cross_rail_share;
  const double share = std::min(rails, rails * at_bound(range, bound) / range.typical);
  rates.network =
      group.nics * cluster.network.nic_bandwidth / group.per_node / group.oversubscription * share;
  rates.fixed_ns = all_to_all_fixed_ns;
  return rates;
}

double sent_bytes(const CollectiveCall& call) {
  const double n = call.group.ranks;
  if (n <= 1) return 0;
  switch (call.kind) {
    case CollectiveKind::all_reduce: return 2 * (n - 1) / n * call.bytes;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
    case CollectiveKind::gather:
    case CollectiveKind::scatter: return (n - 1) / n * call.bytes;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::send:
    case CollectiveKind::receive:
    case CollectiveKind::send_receive: return call.bytes;
    case CollectiveKind::barrier:
    case CollectiveKind::none: return 0;
  }
  return 0;
}

CollectiveTime collective_time(const Cluster& cluster, const CollectiveCall& call, Bound bound) {
  if (call.group.ranks <= 1 || !(call.bytes > 0)) return {0, Provenance::measured, "alone"};
  if (!cluster.tier_network.tiers.empty()) {
    return {tier_ns(cluster.tier_network, call), Provenance::roofline, "formula of its file"};
  }
  const CollectiveTime time = without_switches(cluster, call, bound);
  if (!switches_add_up(cluster, call)) return time;
  CollectiveCall inside = call;
  inside.group = place_alone(cluster, 1, call.group.per_node);
  const double local = call.group.per_node > 1 ? without_switches(cluster, inside, bound).ns : 0;
  const double summed =
      aggregation_ns(cluster, call, at_bound(cluster.network.efficiency, bound), local);
  if (summed >= time.ns) return time;
  return {summed, Provenance::roofline, "aggregation in switches"};
}

CollectiveRange collective_range(const Cluster& cluster, const CollectiveCall& call) {
  CollectiveRange range = range_of_class(cluster, call);
  // A bound is no nearer than that of the largest buffer of a class below: a larger one takes no
  // less, and evidence of each class is its own.
  CollectiveCall below = call;
  for (const double edge : class_edges(cluster, call)) {
    if (!(edge <= call.bytes)) continue;
    below.bytes = std::nextafter(edge, 0.0);
    const CollectiveRange other = range_of_class(cluster, below);
    range.shortest_ns = std::max(range.shortest_ns, std::min(other.shortest_ns, range.time.ns));
    range.longest_ns = std::max(range.longest_ns, other.longest_ns);
  }
  return range;
}

Ranged collective_spread(const Cluster& cluster, std::uint32_t nodes) {
  constexpr double bytes = 64.0 * 1024 * 1024;
  const std::uint32_t per_node = std::max(nodes > 1 ? 1U : 2U, cluster.node_accelerators);
  const CollectiveRange range = range_of_class(
      cluster, {CollectiveKind::all_reduce, bytes, place_alone(cluster, nodes, per_node)});
  if (!(range.time.ns > 0) || !std::isfinite(range.longest_ns)) return {1, 1, 1};  // no links
  return {1, range.shortest_ns / range.time.ns, range.longest_ns / range.time.ns};
}

}  // namespace foretrace
