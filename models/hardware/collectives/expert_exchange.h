// How tokens come to the experts of other ranks, by the kernels that carry them.
#pragma once

#include <cstdint>

#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/networks/cluster.h"
#include "models/hardware/networks/placement.h"

namespace foretrace {

enum class ExchangeStyle : std::uint8_t {
  padded,     ///< an all-to-all of NCCL with room for every token at every expert
  direct,     ///< every copy of a token goes straight to its rank (DeepEP's low latency)
  forwarded,  ///< once to each node by its own port, there on to the ranks (DeepEP's normal
              ///< kernels)
};

/// Tokens of one rank on the way to their experts, or back.
struct ExpertExchange {
  ExchangeStyle style = ExchangeStyle::forwarded;
  double tokens = 0;
  double top_k = 1;
  double experts = 1;      ///< of all ranks
  double token_bytes = 0;  ///< of one copy
  double node_limit = 0;   ///< the experts of a token lie in this many nodes at most; 0: in any
  /// Direct: ranks of the own node are reached by the network, too (DeepEP before it used NVLink).
  bool by_network = false;
  Placement group;
};

/// How many of `places` are met by `picks` that fall on any of them alike.
[[nodiscard]] double expected_places(double places, double picks);

/// Bytes as DeepEP counts them for its GB/s: one copy per node (in one node: per rank) that a token
/// has experts in, its own included; without forwarding one copy per expert.
[[nodiscard]] double counted_bytes(const ExpertExchange& exchange);

/// Experts are chosen alike. The link that is busy longest decides.
[[nodiscard]] CollectiveTime exchange_time(const Cluster& cluster, const ExpertExchange& exchange,
                                           Bound bound = Bound::point);

}  // namespace foretrace
