// Jobs of one size together: parts of accelerators with parts, eights with eights.
//
// paper     Q. Weng et al., ATC 2023 (baseline GpuClustering)
// assumes   jobs that ask for the same number of accelerators leave room for each other
// ignores   cores and host memory; which jobs come later
// calibrate nothing
#include <array>
#include <memory>
#include <set>
#include <vector>

#include "apps/scheduling/placements/scored.h"

namespace foretrace::scheduling::gpu_clustering_parts {
namespace {

class GpuClustering final : public ScoredPlacement {
 protected:
  double score(const Occupancy& occupancy, NodeId id, const Request& request) override {
    if (request.gpus == 0) return 0;
    constexpr double most_gpu_milli = 8000;
    const double packed = (most_gpu_milli - occupancy.node(id).free_milli()) / most_gpu_milli;
    return 25 * packed + affinity(id, request);
  }
  Slice choose(const Occupancy& occupancy, NodeId id, const Request& request) override {
    classes_.resize(occupancy.nodes().size());
    std::set<std::int32_t>& classes = classes_[index(id)];
    if (request.gpus > 0) classes.insert(class_of(request));
    return ScoredPlacement::choose(occupancy, id, request);
  }

 private:
  // 0: a part of an accelerator, else how many.
  static std::int32_t class_of(const Request& request) {
    return request.milli < whole ? 0 : request.gpus;
  }
  [[nodiscard]] double affinity(NodeId id, const Request& request) const {
    if (index(id) >= classes_.size() || classes_[index(id)].empty()) return 25;
    const std::set<std::int32_t>& classes = classes_[index(id)];
    if (!classes.contains(class_of(request))) return 0;
    return classes.size() == 1 ? 75 : 50;
  }

  std::vector<std::set<std::int32_t>> classes_;  // that were placed on each node
};

Result<std::unique_ptr<Placement>> make(const PlacementSetup& /*setup*/,
                                        const ParamValues& /*params*/) {
  return std::unique_ptr<Placement>(std::make_unique<GpuClustering>());
}

constexpr std::array<std::string_view, 1> assumptions = {
    "Jobs that ask for the same number of accelerators leave room for each other."};
constexpr std::array<std::string_view, 2> ignores = {"cores and host memory",
                                                     "which jobs come later"};

constexpr PlacementInfo info = {
    .name = "gpu_clustering",
    .summary = "Put jobs of one size together: parts with parts, eights with eights.",
    .paper =
        "Q. Weng et al., Beware of Fragmentation: Scheduling GPU-Sharing Workloads with "
        "Fragmentation Gradient Descent, ATC 2023 (baseline GpuClustering)",
    .recipe =
        "A node scores 75 if only jobs of the same number of accelerators are on it, 50 if others "
        "are too, 25 if it is empty, 0 otherwise, and up to 25 more the fuller it is.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "nothing",
    .params = {},
    .make = make};

}  // namespace
}  // namespace foretrace::scheduling::gpu_clustering_parts

namespace foretrace::placements {
extern const PlacementInfo gpu_clustering;
constinit const PlacementInfo gpu_clustering = scheduling::gpu_clustering_parts::info;
}  // namespace foretrace::placements
