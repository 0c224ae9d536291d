// Collectives on networks that another simulator's file describes, by the formulas of that
// simulator.
#pragma once

#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/networks/cluster.h"

namespace foretrace {

/// ns of a collective of several ranks on a network with tiers, which nothing else uses. With n
/// members of a tier, links of latency l and bandwidth b, h links from one member to the next (a
/// switch: 2) and a buffer of V bytes:
///   ring              all-reduce 2 (n - 1) (h l + V / (n b)), half of it to gather or to scatter,
///                     all-to-all n (n - 1) / 2 (h l + V / (n b))
///   direct            h l + V / (n b) where everybody has a link to everybody, h l + (n - 1) V /
///   (n
///                     b) through a switch, what passes the fullest link of a ring; an all-reduce
///                     scatters and gathers
///   halving_doubling  log2(n) h l + (n - 1) V / (n b), an all-reduce twice that
/// Buffers are counted as CollectiveCall has them.
[[nodiscard]] double tier_ns(const TierNetwork& network, const CollectiveCall& call);

}  // namespace foretrace
