// A gang on as few nodes as possible, on the node that it fills best.
#include <algorithm>
#include <utility>

#include "apps/scheduling/placements/gang.h"
#include "apps/scheduling/placements/placement.h"

namespace foretrace::scheduling::pack_parts {
namespace {

class Pack final : public Placement {
 public:
  std::optional<std::vector<Slice>> place(const Occupancy& occupancy,
                                          const Request& request) override {
    const NodeId single = fullest(occupancy, request);
    if (single != none<NodeId>) return std::vector<Slice>{slice_on(occupancy, single, request)};
    if (request.milli != whole || request.gpus <= 1) return std::nullopt;
    return spread_over_emptiest(occupancy, request);
  }

 private:
  // The node with the least room among those where all of the request fits.
  static NodeId fullest(const Occupancy& occupancy, const Request& request) {
    NodeId best = none<NodeId>;
    std::int32_t least = 0;
    for (std::size_t i = 0; i < occupancy.nodes().size(); ++i) {
      const auto id = make_id<NodeId>(i);
      const NodeFree& node = occupancy.node(id);
      if (!node.fits(request)) continue;
      const std::int32_t free = node.free_milli();
      if (best != none<NodeId> && free >= least) continue;
      best = id;
      least = free;
    }
    return best;
  }

  // The nodes with most room first; the rest goes where it fits best.
  static std::optional<std::vector<Slice>> spread_over_emptiest(const Occupancy& occupancy,
                                                                const Request& request) {
    std::vector<std::pair<NodeId, std::int32_t>> rooms;
    for (std::size_t i = 0; i < occupancy.nodes().size(); ++i) {
      const auto id = make_id<NodeId>(i);
      const std::int32_t room = room_for(occupancy.node(id), request);
      if (room > 0) rooms.emplace_back(id, room);
    }
    std::stable_sort(rooms.begin(), rooms.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<std::pair<NodeId, std::int32_t>> chosen;
    std::int32_t left = request.gpus;
    for (std::size_t i = 0; i < rooms.size() && left > 0; ++i) {
      // The last part goes to the smallest room that takes it, the first among equal ones.
      std::size_t at = i;
      for (std::size_t j = i + 1; j < rooms.size() && rooms[j].second >= left; ++j) {
        if (rooms[j].second < rooms[at].second) at = j;
      }
      chosen.emplace_back(rooms[at].first, std::min(left, rooms[at].second));
      left -= chosen.back().second;
    }
    if (left > 0) return std::nullopt;
    return slices_on(occupancy, request, chosen);
  }
};

}  // namespace

extern constexpr PlacementInfo info = {
    .name = "pack",
    .summary = "Take as few nodes as possible, and the node that the job fills best.",
    .paper =
        "consolidated placement, as described by M. Jeon et al., Analysis of Large-Scale "
        "Multi-Tenant GPU Clusters, ATC 2019",
    .recipe =
        "A job that fits on one node goes to the one with the least room; a larger one uses the "
        "emptiest nodes, and the remainder goes where it fits best.",
    .assumptions = {"Fewer nodes are never slower for a job."},
    .ignores = {"which nodes are near each other", "what comes later"},
    .calibrate = "nothing",
    .params = {},
    .make = make_as<Pack>};

}  // namespace foretrace::scheduling::pack_parts
