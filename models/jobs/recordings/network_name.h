// What the network's work is called in a recording, and on which stream it goes.
#pragma once

#include <string_view>

#include "models/jobs/parallelism/plan.h"
#include "models/jobs/program/graphs/rank_nodes.h"

namespace foretrace {

struct NetworkName {
  std::string_view work;
  std::string_view stream;
};

/// Of a collective or a send. Sharded parameters and their gradients keep one order.
[[nodiscard]] inline NetworkName network_name(const RankNode& node, Sharding sharding) {
  if (node.type == RankNodeType::send) {
    return node.place.phase == Phase::forward
               ? NetworkName{"send of activations", "activations to the next stage"}
               : NetworkName{"send of gradients", "gradients to the stage before"};
  }
  const std::string_view stream = sharding == Sharding::parameters ? "parameters" : "gradients";
  switch (node.collective) {
    case CollectiveKind::all_gather: return {"all-gather of parameters", stream};
    case CollectiveKind::reduce_scatter: return {"reduce-scatter of gradients", stream};
    default: return {"all-reduce of gradients", stream};
  }
}

}  // namespace foretrace
