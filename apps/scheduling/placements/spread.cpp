// Accelerators one by one from the node with most of them free.
#include <algorithm>
#include <utility>

#include "apps/scheduling/placements/gang.h"
#include "apps/scheduling/placements/placement.h"

namespace foretrace::scheduling::spread_parts {
namespace {

class Spread final : public Placement {
 public:
  std::optional<std::vector<Slice>> place(const Occupancy& occupancy,
                                          const Request& request) override {
    std::vector<std::int32_t> free;  // 0: not for this job
    std::vector<std::int32_t> room;
    for (std::size_t i = 0; i < occupancy.nodes().size(); ++i) {
      const NodeFree& node = occupancy.node(make_id<NodeId>(i));
      room.push_back(room_for(node, request));
      free.push_back(room.back() > 0 ? node.free_gpus() : 0);
    }
    std::vector<std::pair<NodeId, std::int32_t>> chosen;
    std::int32_t left = request.gpus;
    while (left > 0) {
      const auto most = std::max_element(free.begin(), free.end());  // the first among equal ones
      if (most == free.end() || *most == 0) return std::nullopt;
      const auto at = static_cast<std::size_t>(most - free.begin());
      const std::int32_t taken = std::min(left, room[at]);
      chosen.emplace_back(make_id<NodeId>(at), taken);
      left -= taken;
      *most = 0;
    }
    return slices_on(occupancy, request, chosen);
  }
};

}  // namespace

extern constexpr PlacementInfo info = {
    .name = "spread",
    .summary = "Take accelerators from the node with most of them free, then from the next.",
    .paper =
        "A. Qiao et al., Pollux: Co-adaptive Cluster Scheduling for Goodput-Optimized Deep "
        "Learning, OSDI 2021 (placement of its baselines)",
    .recipe =
        "While accelerators are missing, all that the job still needs are taken from the node with "
        "most free ones, the first among equal nodes.",
    .assumptions = {"A job is helped by nodes that are empty."},
    .ignores = {"which nodes are near each other"},
    .calibrate = "nothing",
    .params = {},
    .make = make_as<Spread>};

}  // namespace foretrace::scheduling::spread_parts
