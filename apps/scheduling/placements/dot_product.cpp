// The node whose free resources point least in the direction of the request.
//
// paper     Q. Weng et al., ATC 2023 (baseline DotProd)
// assumes   a node of 128 cores and 8 accelerators is the measure of what is free
// ignores   host memory; which jobs come later
// calibrate nothing
#include <array>
#include <memory>

#include "apps/scheduling/placements/scored.h"

namespace foretrace::scheduling::dot_product_parts {
namespace {

// What the largest node has: the measure of what is free.
constexpr double most_cpu_milli = 128000;
constexpr double most_gpu_milli = 8000;

class DotProduct final : public ScoredPlacement {
 protected:
  double score(const Occupancy& occupancy, NodeId id, const Request& request) override {
    const NodeFree& node = occupancy.node(id);
    const double cpu = static_cast<double>(node.cpu_milli) / most_cpu_milli *
                       static_cast<double>(request.cpu_milli) / most_cpu_milli;
    const double gpu =
        node.free_milli() / most_gpu_milli * (request.gpus * request.milli) / most_gpu_milli;
    return 100 * (1 - (cpu + gpu) / 2);
  }
};

Result<std::unique_ptr<Placement>> make(const PlacementSetup& /*setup*/,
                                        const ParamValues& /*params*/) {
  return std::unique_ptr<Placement>(std::make_unique<DotProduct>());
}

constexpr std::array<std::string_view, 1> assumptions = {
    "A node of 128 cores and 8 accelerators is the measure of what is free."};
constexpr std::array<std::string_view, 2> ignores = {"host memory", "which jobs come later"};

constexpr PlacementInfo info = {
    .name = "dot_product",
    .summary = "Take the node with the smallest product of what is free and what is asked for.",
    .paper =
        "Q. Weng et al., Beware of Fragmentation: Scheduling GPU-Sharing Workloads with "
        "Fragmentation Gradient Descent, ATC 2023 (baseline DotProd)",
    .recipe =
        "A node scores 1 minus the mean of free times requested cores, in 128 squared, and "
        "accelerators, in 8 squared. The highest score wins.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "nothing",
    .params = {},
    .make = make};

}  // namespace
}  // namespace foretrace::scheduling::dot_product_parts

namespace foretrace::placements {
extern const PlacementInfo dot_product;
constinit const PlacementInfo dot_product = scheduling::dot_product_parts::info;
}  // namespace foretrace::placements
