// Placements that take the node with the highest score.
#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "apps/scheduling/placements/by_score.h"
#include "apps/scheduling/placements/gang.h"

namespace foretrace::scheduling::scored_parts {
namespace {

// What the largest node has: the measure of what is free, or left.
constexpr double most_cpu_milli = 128000;
constexpr double most_gpu_milli = 8000;

// `cuts`: see ScoredPlacement.
template <auto score_of, bool cuts = true>
class ByScore final : public ScoredPlacement {
 protected:
  [[nodiscard]] bool cuts_fractions() const override { return cuts; }
  double score(const Occupancy& occupancy, NodeId id, const Request& request) override {
    return score_of(occupancy, id, request);
  }
};

double least_left(const Occupancy& occupancy, NodeId id, const Request& request) {
  const NodeFree& free = occupancy.node(id);
  const auto cpu = static_cast<double>(free.cpu_milli - request.cpu_milli);
  const auto gpu = static_cast<double>(free.free_milli() - request.gpus * request.milli);
  return 100 * (1 - (cpu / most_cpu_milli + gpu / most_gpu_milli) / 2);
}

double least_product(const Occupancy& occupancy, NodeId id, const Request& request) {
  const NodeFree& free = occupancy.node(id);
  const double cpu = static_cast<double>(free.cpu_milli) / most_cpu_milli *
                     static_cast<double>(request.cpu_milli) / most_cpu_milli;
  const double gpu =
      free.free_milli() / most_gpu_milli * (request.gpus * request.milli) / most_gpu_milli;
  return 100 * (1 - (cpu + gpu) / 2);
}

double least_share_left(const Occupancy& occupancy, NodeId id, const Request& request) {
  return 100 * (1 - share_left(occupancy, id, request));
}

// As published: up to 100 on accelerators in use, 50 on free ones of a node in use, 33 on an idle
// node.
double used_first(const Occupancy& occupancy, NodeId id, const Request& request) {
  const NodeFree& free = occupancy.node(id);
  if (request.gpus == 0) return 0;
  if (free.free_gpus() == free.gpus) return std::max(33 - free.gpus, free.gpus);
  if (request.milli == whole) return std::max(50 - request.gpus, 33);
  const std::int32_t at = tightest(free, request.milli);
  const std::int32_t left = at < 0 ? whole : free.milli[static_cast<std::size_t>(at)];
  if (left == whole) return std::max(50 - 1, 33);
  constexpr std::int32_t percent = whole / 100;
  return std::max(100 - left / percent / 10, 50);
}

// Jobs of one size together: it remembers what was placed on each node.
class GpuClustering final : public ScoredPlacement {
 protected:
  double score(const Occupancy& occupancy, NodeId id, const Request& request) override {
    if (request.gpus == 0) return 0;
    const double packed = (most_gpu_milli - occupancy.node(id).free_milli()) / most_gpu_milli;
    return 25 * packed + affinity(id, request);
  }
  Slice choose(const Occupancy& occupancy, NodeId id, const Request& request) override {
    classes_.resize(occupancy.nodes().size());
    if (request.gpus > 0) classes_[index(id)].insert(class_of(request));
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

constexpr std::array rows = {
    PlacementInfo{
        .name = "best_fit",
        .summary = "Take the node with the least left after placing, cores and accelerators alike.",
        .paper = "Q. Weng et al., Beware of Fragmentation: Scheduling GPU-Sharing Workloads with "
                 "Fragmentation Gradient Descent, ATC 2023 (baseline BestFit)",
        .recipe = "A node scores 1 minus the mean of what is left of its cores, in 128, and of its "
                  "accelerators, in 8. The highest score wins.",
        .assumptions = {"A node of 128 cores and 8 accelerators is the measure of what is left."},
        .ignores = {"host memory", "which jobs come later"},
        .calibrate = "nothing",
        .params = {},
        .make = make_as<ByScore<least_left>>},
    PlacementInfo{
        .name = "dot_product",
        .summary = "Take the node with the smallest product of what is free and what is asked for.",
        .paper = "Q. Weng et al., Beware of Fragmentation: Scheduling GPU-Sharing Workloads with "
                 "Fragmentation Gradient Descent, ATC 2023 (baseline DotProd)",
        .recipe =
            "A node scores 1 minus the mean of free times requested cores, in 128 squared, and "
            "accelerators, in 8 squared. The highest score wins.",
        .assumptions = {"A node of 128 cores and 8 accelerators is the measure of what is free."},
        .ignores = {"host memory", "which jobs come later"},
        .calibrate = "nothing",
        .params = {},
        .make = make_as<ByScore<least_product>>},
    PlacementInfo{
        .name = "gpu_clustering",
        .summary = "Put jobs of one size together: parts with parts, eights with eights.",
        .paper = "Q. Weng et al., Beware of Fragmentation: Scheduling GPU-Sharing Workloads with "
                 "Fragmentation Gradient Descent, ATC 2023 (baseline GpuClustering)",
        .recipe =
            "A node scores 75 if only jobs of the same number of accelerators are on it, 50 if "
            "others are too, 25 if it is empty, 0 otherwise, and up to 25 more the fuller it is.",
        .assumptions = {"Jobs that ask for the same number of accelerators leave room for each "
                        "other."},
        .ignores = {"cores and host memory", "which jobs come later"},
        .calibrate = "nothing",
        .params = {},
        .make = make_as<GpuClustering>},
    PlacementInfo{
        .name = "gpu_packing",
        .summary = "Fill accelerators in use first, then nodes in use, then empty nodes.",
        .paper = "Q. Weng et al., Beware of Fragmentation: Scheduling GPU-Sharing Workloads with "
                 "Fragmentation Gradient Descent, ATC 2023 (baseline GpuPacking)",
        .recipe =
            "A share scores 100 minus a tenth of the percentage that is free on the accelerator "
            "it would go to; idle accelerators of a node in use score at most 50, an idle node at "
            "most 33.",
        .assumptions = {"An accelerator in use is the best place for a share."},
        .ignores = {"cores and host memory", "which jobs come later"},
        .calibrate = "nothing",
        .params = {},
        .make = make_as<ByScore<used_first>>},
    PlacementInfo{
        .name = "vector_best_fit",
        .summary = "Take the node with the least left of its own cores, memory and accelerators.",
        .paper = "R. Panigrahy, K. Talwar, L. Uyeda, U. Wieder, Heuristics for Vector Bin Packing, "
                 "Microsoft Research 2011 (best fit over a sum of the dimensions)",
        .recipe =
            "A node scores 1 minus the mean over its resources of the share that would be left. "
            "The highest score wins, the first among equal ones.",
        .assumptions = {"Cores, memory and accelerators weigh the same.",
                        "A resource that the node does not list is never short."},
        .ignores = {"how long jobs stay"},
        .calibrate = "nothing",
        .params = {},
        .make = make_as<ByScore<least_share_left, false>>}};

}  // namespace

extern constexpr std::span<const PlacementInfo> infos = rows;

}  // namespace foretrace::scheduling::scored_parts
