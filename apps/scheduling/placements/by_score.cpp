#include "apps/scheduling/placements/by_score.h"

#include <cmath>

#include "apps/scheduling/placements/gang.h"

namespace foretrace::scheduling {

std::optional<std::vector<Slice>> ScoredPlacement::place(const Occupancy& occupancy,
                                                         const Request& request) {
  std::vector<Entry>& entries =
      kept_[Key{request.gpus, request.milli, request.cpu_milli, request.memory_mib, request.kinds}];
  entries.resize(occupancy.nodes().size());
  NodeId best = none<NodeId>;
  double best_score = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto node = make_id<NodeId>(i);
    Entry& entry = entries[i];
    if (entry.version != occupancy.version(node)) {
      entry.version = occupancy.version(node);
      entry.fits = occupancy.node(node).fits(request);
      if (entry.fits) entry.score = score(occupancy, node, request);
      if (cuts_fractions()) entry.score = std::trunc(entry.score);
    }
    if (!entry.fits || (best != none<NodeId> && entry.score <= best_score)) continue;
    best = node;
    best_score = entry.score;
  }
  if (best == none<NodeId>) return std::nullopt;
  return std::vector<Slice>{choose(occupancy, best, request)};
}

Slice ScoredPlacement::choose(const Occupancy& occupancy, NodeId node, const Request& request) {
  return slice_on(occupancy, node, request);
}

}  // namespace foretrace::scheduling
