// The node with the least left after placing, each of its resources as a share of what it has.
//
// paper     R. Panigrahy et al., Heuristics for Vector Bin Packing, 2011 (bin-centric best fit)
// assumes   cores, memory and accelerators weigh the same
// ignores   how long jobs stay
// calibrate nothing
#include <array>
#include <memory>

#include "apps/scheduling/placements/host_left.h"
#include "apps/scheduling/placements/scored.h"

namespace foretrace::scheduling::vector_best_fit_parts {
namespace {

class VectorBestFit final : public ScoredPlacement {
 public:
  explicit VectorBestFit(const Cluster& cluster) : cluster_(&cluster) {}

 protected:
  [[nodiscard]] bool cuts_fractions() const override { return false; }
  double score(const Occupancy& occupancy, NodeId id, const Request& request) override {
    return 100 * (1 - share_left(occupancy.node(id), cluster_->nodes[id], request));
  }

 private:
  const Cluster* cluster_;
};

Result<std::unique_ptr<Placement>> make(const PlacementSetup& setup,
                                        const ParamValues& /*params*/) {
  return std::unique_ptr<Placement>(std::make_unique<VectorBestFit>(*setup.cluster));
}

constexpr std::array<std::string_view, 2> assumptions = {
    "Cores, memory and accelerators weigh the same.",
    "A resource that the node does not list is never short."};
constexpr std::array<std::string_view, 1> ignores = {"how long jobs stay"};

constexpr PlacementInfo info = {
    .name = "vector_best_fit",
    .summary = "Take the node with the least left of its own cores, memory and accelerators.",
    .paper =
        "R. Panigrahy, K. Talwar, L. Uyeda, U. Wieder, Heuristics for Vector Bin Packing, "
        "Microsoft Research 2011 (best fit over a sum of the dimensions)",
    .recipe =
        "A node scores 1 minus the mean over its resources of the share that would be left. The "
        "highest score wins, the first among equal ones.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "nothing",
    .params = {},
    .make = make};

}  // namespace
}  // namespace foretrace::scheduling::vector_best_fit_parts

namespace foretrace::placements {
extern const PlacementInfo vector_best_fit;
constinit const PlacementInfo vector_best_fit = scheduling::vector_best_fit_parts::info;
}  // namespace foretrace::placements
