// Any node where the job fits, all alike.
#include <vector>

#include "apps/scheduling/placements/gang.h"
#include "apps/scheduling/placements/placement.h"
#include "sim/core/mersenne.h"

namespace foretrace::scheduling::random_parts {
namespace {

class RandomNode final : public Placement {
 public:
  explicit RandomNode(const PlacementSetup& setup) : random_(setup.seed) {}

  std::optional<std::vector<Slice>> place(const Occupancy& occupancy,
                                          const Request& request) override {
    std::vector<NodeId> nodes;
    for (std::size_t i = 0; i < occupancy.nodes().size(); ++i) {
      if (occupancy.node(make_id<NodeId>(i)).fits(request)) nodes.push_back(make_id<NodeId>(i));
    }
    if (nodes.empty()) return std::nullopt;
    const NodeId id = nodes[random_.below(nodes.size())];
    Slice slice = slice_on(occupancy, id, request);
    if (request.milli < whole && request.gpus > 0)
      slice.gpus = any_with_room(occupancy, id, request);
    return std::vector<Slice>{slice};
  }

 private:
  std::uint64_t any_with_room(const Occupancy& occupancy, NodeId id, const Request& request) {
    const NodeFree& node = occupancy.node(id);
    std::vector<unsigned> gpus;
    for (unsigned i = 0; i < node.milli.size(); ++i) {
      if (node.milli[i] >= request.milli) gpus.push_back(i);
    }
    return std::uint64_t{1} << gpus[random_.below(gpus.size())];
  }

  Random random_;
};

}  // namespace

extern constexpr PlacementInfo info = {
    .name = "random",
    .summary = "Take any node where the job fits.",
    .paper =
        "Q. Weng et al., Beware of Fragmentation: Scheduling GPU-Sharing Workloads with "
        "Fragmentation Gradient Descent, ATC 2023 (baseline Random)",
    .recipe =
        "All nodes where the job fits are equally likely, and on the node all accelerators "
        "with room for a share.",
    .assumptions = {"The seed of the run decides; another seed gives another placement."},
    .ignores = {"everything but whether the job fits"},
    .calibrate = "nothing",
    .params = {},
    .make = make_as<RandomNode>};

}  // namespace foretrace::scheduling::random_parts
