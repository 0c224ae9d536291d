// The node with the least left after placing, cores and accelerators alike.
//
// paper     Q. Weng et al., ATC 2023 (baseline BestFit)
// assumes   a node of 128 cores and 8 accelerators is the measure of what is left
// ignores   host memory; which jobs come later
// calibrate nothing
#include <array>
#include <memory>

#include "apps/scheduling/placements/scored.h"

namespace foretrace::scheduling::best_fit_parts {
namespace {

// What the largest node has: the measure of what is left.
constexpr double most_cpu_milli = 128000;
constexpr double most_gpu_milli = 8000;

class BestFit final : public ScoredPlacement {
 protected:
  double score(const Occupancy& occupancy, NodeId id, const Request& request) override {
    const NodeFree& node = occupancy.node(id);
    const auto cpu = static_cast<double>(node.cpu_milli - request.cpu_milli);
    const auto gpu = static_cast<double>(node.free_milli() - request.gpus * request.milli);
    return 100 * (1 - (cpu / most_cpu_milli + gpu / most_gpu_milli) / 2);
  }
};

Result<std::unique_ptr<Placement>> make(const PlacementSetup& /*setup*/,
                                        const ParamValues& /*params*/) {
  return std::unique_ptr<Placement>(std::make_unique<BestFit>());
}

constexpr std::array<std::string_view, 1> assumptions = {
    "A node of 128 cores and 8 accelerators is the measure of what is left."};
constexpr std::array<std::string_view, 2> ignores = {"host memory", "which jobs come later"};

constexpr PlacementInfo info = {
    .name = "best_fit",
    .summary = "Take the node with the least left after placing, cores and accelerators alike.",
    .paper =
        "Q. Weng et al., Beware of Fragmentation: Scheduling GPU-Sharing Workloads with "
        "Fragmentation Gradient Descent, ATC 2023 (baseline BestFit)",
    .recipe =
        "A node scores 1 minus the mean of what is left of its cores, in 128, and of its "
        "accelerators, in 8. The highest score wins.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "nothing",
    .params = {},
    .make = make};

}  // namespace
}  // namespace foretrace::scheduling::best_fit_parts

namespace foretrace::placements {
extern const PlacementInfo best_fit;
constinit const PlacementInfo best_fit = scheduling::best_fit_parts::info;
}  // namespace foretrace::placements
