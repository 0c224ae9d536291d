// Accelerators that are in use first, then nodes that are in use, then empty nodes.
//
// paper     Q. Weng et al., ATC 2023 (baseline GpuPacking)
// assumes   an accelerator in use is the best place for a share
// ignores   cores and host memory; which jobs come later
// calibrate nothing
#include <algorithm>
#include <array>
#include <memory>

#include "apps/scheduling/placements/gang.h"
#include "apps/scheduling/placements/scored.h"

namespace foretrace::scheduling::gpu_packing_parts {
namespace {

class GpuPacking final : public ScoredPlacement {
 protected:
  // Scores as published: up to 100 on accelerators in use, 50 on free ones of a node in use, 33 on
  // an idle node.
  double score(const Occupancy& occupancy, NodeId id, const Request& request) override {
    if (request.gpus == 0) return 0;
    const NodeFree& node = occupancy.node(id);
    const std::int32_t idle = node.free_gpus();
    if (idle == node.gpus) return std::max(33 - node.gpus, node.gpus);
    if (request.milli == whole) return std::max(50 - request.gpus, 33);
    const std::int32_t at = tightest(node, request.milli);
    const std::int32_t free = at < 0 ? whole : node.milli[static_cast<std::size_t>(at)];
    if (free == whole) return std::max(50 - 1, 33);
    constexpr std::int32_t percent = whole / 100;
    return std::max(100 - free / percent / 10, 50);
  }
};

Result<std::unique_ptr<Placement>> make(const PlacementSetup& /*setup*/,
                                        const ParamValues& /*params*/) {
  return std::unique_ptr<Placement>(std::make_unique<GpuPacking>());
}

constexpr std::array<std::string_view, 1> assumptions = {
    "An accelerator in use is the best place for a share."};
constexpr std::array<std::string_view, 2> ignores = {"cores and host memory",
                                                     "which jobs come later"};

constexpr PlacementInfo info = {
    .name = "gpu_packing",
    .summary = "Fill accelerators in use first, then nodes in use, then empty nodes.",
    .paper =
        "Q. Weng et al., Beware of Fragmentation: Scheduling GPU-Sharing Workloads with "
        "Fragmentation Gradient Descent, ATC 2023 (baseline GpuPacking)",
    .recipe =
        "A share scores 100 minus a tenth of the percentage that is free on the accelerator it "
        "would go to; idle accelerators of a node in use score at most 50, an idle node at most "
        "33.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "nothing",
    .params = {},
    .make = make};

}  // namespace
}  // namespace foretrace::scheduling::gpu_packing_parts

namespace foretrace::placements {
extern const PlacementInfo gpu_packing;
constinit const PlacementInfo gpu_packing = scheduling::gpu_packing_parts::info;
}  // namespace foretrace::placements
