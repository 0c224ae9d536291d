#include "models/hardware/collectives/expert_exchange.h"

#include <algorithm>
#include <cmath>

namespace foretrace {
namespace {

// ExpertCopies of a token that are sent to ranks and to nodes.
struct ExpertCopies {
  double ranks = 0;
  double nodes = 0;
};

ExpertCopies copies_of(const ExpertExchange& exchange) {
  const Placement& group = exchange.group;
  double nodes = group.nodes;
  if (exchange.node_limit > 0) nodes = std::min(nodes, exchange.node_limit);
  return {expected_places(nodes * group.per_node, exchange.top_k),
          expected_places(nodes, exchange.top_k)};
}

// Ports of Ethernet fabrics of clouds and of Slingshot lose where rails are crossed: measured on p5
// and Polaris. An InfiniBand fat tree does not.
bool joins_rails(const Network& network) {
  return network.kind != "efa" && network.kind != "slingshot";
}

// Every copy for another rank leaves by the port of its own accelerator.
CollectiveTime through_network(const Cluster& cluster, const ExpertExchange& exchange,
                               Bound bound) {
  const Placement& group = exchange.group;
  const Placement apart = place_alone(cluster, 2, group.per_node);
  const AllToAllRates rates = all_to_all_rates(cluster, apart, joins_rails(cluster.network), bound);
  const double n = group.ranks;
  const double bytes = exchange.tokens * exchange.token_bytes * exchange.top_k * (n - 1) / n;
  return {rates.fixed_ns + bytes / rates.network * 1e9, Provenance::table, "by the network alone"};
}

CollectiveTime all_to_all_of(const Cluster& cluster, const ExpertExchange& exchange, Bound bound) {
  CollectiveCall call;
  call.kind = CollectiveKind::all_to_all;
  call.bytes = exchange.tokens * exchange.experts * exchange.token_bytes;
  call.group = exchange.group;
  return collective_time(cluster, call, bound);
}

}  // namespace

double expected_places(double places, double picks) {
  return places > 0 ? places * (1 - std::pow(1 - 1 / places, picks)) : 0;
}

double counted_bytes(const ExpertExchange& exchange) {
  const double one = exchange.tokens * exchange.token_bytes;
  switch (exchange.style) {
    case ExchangeStyle::padded: return one * exchange.experts;
    case ExchangeStyle::direct: return one * exchange.top_k;
    case ExchangeStyle::forwarded: {
      const ExpertCopies copies = copies_of(exchange);
      return one * (exchange.group.nodes > 1 ? copies.nodes : copies.ranks);
    }
  }
  return 0;
}

CollectiveTime exchange_time(const Cluster& cluster, const ExpertExchange& exchange, Bound bound) {
  if (exchange.style == ExchangeStyle::padded) return all_to_all_of(cluster, exchange, bound);
  const Placement& group = exchange.group;
  if (group.ranks <= 1) return {0, Provenance::measured, "alone"};
  if (exchange.by_network && cluster.network.nics > 0) {
    return through_network(cluster, exchange, bound);
  }
  const double n = group.ranks;
  const double one = exchange.tokens * exchange.token_bytes;
  const bool forwards = exchange.style == ExchangeStyle::forwarded;
  const AllToAllRates rates =
      all_to_all_rates(cluster, group, forwards || joins_rails(cluster.network), bound);
  const ExpertCopies copies = copies_of(exchange);
  // Forwarded, what has come by the port of the right rank is there already.
  const double local = forwards ? copies.ranks * (group.per_node - 1) / group.per_node
                                : exchange.top_k * (group.per_node - 1) / n;
  double seconds = one * local / rates.local;
  if (group.nodes > 1) {
    const double crossing = forwards ? copies.nodes * (group.nodes - 1) / group.nodes
                                     : exchange.top_k * (n - group.per_node) / n;
    seconds = std::max(seconds, one * crossing / rates.network);
  }
  return {rates.fixed_ns + seconds * 1e9, Provenance::table, forwards ? "forwarded" : "direct"};
}

}  // namespace foretrace
