// FGD: where the job makes the least of what is free useless to the jobs that usually come.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/scheduling/placements/by_score.h"
#include "apps/scheduling/placements/gang.h"

namespace foretrace::scheduling::fgd_parts {
namespace {

constexpr ParamInfo coverage_param = {
    .name = "coverage",
    .type = ParamType::number,
    .unit = "1",
    .default_text = "0.95",
    .doc = "Share of the workload that typical jobs cover, most frequent first.",
    .minimum = 0,
    .maximum = 1};

struct Typical {
  Request request;
  double share = 0;
};

// The most frequent requests that together make up `coverage` of all, with their shares.
std::vector<Typical> typical_requests(const Workload& workload, double coverage) {
  using Key =
      std::tuple<std::int32_t, std::int32_t, std::int64_t, std::int64_t, std::vector<KindId>>;
  std::map<Key, std::pair<double, Request>> counts;
  double total = 0;
  for (const Job& job : workload.jobs.values()) {
    const Request& request = job.request;
    auto& entry = counts[Key{request.gpus, request.milli, request.cpu_milli, request.memory_mib,
                             request.kinds}];
    entry.first += 1;
    entry.second = request;
    total += 1;
  }
  std::vector<Typical> all;
  all.reserve(counts.size());
  for (const auto& [key, entry] : counts) all.push_back({entry.second, entry.first});
  std::stable_sort(all.begin(), all.end(),
                   [](const Typical& a, const Typical& b) { return a.share > b.share; });
  double covered = 0;
  std::size_t kept = 0;
  while (kept < all.size() && covered < coverage * total) covered += all[kept++].share;
  all.resize(kept);
  for (Typical& typical : all) typical.share /= covered;
  return all;
}

class Fgd final : public ScoredPlacement {
 public:
  explicit Fgd(std::vector<Typical> typical) : typical_(std::move(typical)) {}

 protected:
  double score(const Occupancy& occupancy, NodeId id, const Request& request) override {
    return best(occupancy.node(id), request).first;
  }
  Slice choose(const Occupancy& occupancy, NodeId id, const Request& request) override {
    Slice slice = slice_on(occupancy, id, request);
    if (request.gpus > 0) slice.gpus = best(occupancy.node(id), request).second;
    return slice;
  }

 private:
  // Free parts of accelerators that a typical job could not use, weighted by how typical it is.
  [[nodiscard]] double fragment(const NodeFree& node) const {
    const double all = node.free_milli();
    double sum = 0;
    for (const Typical& typical : typical_) {
      const bool useless = typical.request.gpus == 0 || !node.fits(typical.request);
      sum += typical.share * (useless ? all : too_small(node, typical.request.milli));
    }
    return sum;
  }
  static double too_small(const NodeFree& node, std::int32_t milli) {
    std::int32_t sum = 0;
    for (const std::int32_t free : node.milli) sum += free < milli ? free : 0;
    return sum;
  }

  // The score, from 0 to 100, and the accelerators to take. A share tries every accelerator.
  [[nodiscard]] std::pair<double, std::uint64_t> best(const NodeFree& node,
                                                      const Request& request) const {
    const double before = fragment(node);
    std::pair<double, std::uint64_t> found{-1, 0};
    const auto consider = [&](std::uint64_t mask) {
      NodeFree after = node;
      after.cpu_milli -= request.cpu_milli;
      after.memory_mib -= request.memory_mib;
      for (std::size_t i = 0; i < after.milli.size(); ++i) {
        if ((mask >> i & 1U) != 0) after.milli[i] -= request.milli;
      }
      const double gain = (before - fragment(after)) / static_cast<double>(whole);
      const double score = std::trunc(100 / (1 + std::exp(-gain)));
      if (score > found.first) found = {score, mask};
    };
    if (request.gpus == 0) {
      consider(0);
    } else if (request.milli == whole) {
      consider(first_free(node, request.gpus));
    } else {
      for (std::size_t i = 0; i < node.milli.size(); ++i) {
        if (node.milli[i] >= request.milli) consider(std::uint64_t{1} << i);
      }
    }
    return found;
  }

  std::vector<Typical> typical_;
};

Result<std::unique_ptr<Placement>> make(const PlacementSetup& setup, const ParamValues& params) {
  return std::unique_ptr<Placement>(
      std::make_unique<Fgd>(typical_requests(*setup.workload, params.number(coverage_param))));
}

constexpr std::array params = {coverage_param};

}  // namespace

extern constexpr PlacementInfo info = {
    .name = "fgd",
    .summary = "Leave the fewest resources that typical jobs cannot use.",
    .paper =
        "Q. Weng et al., Beware of Fragmentation: Scheduling GPU-Sharing Workloads with "
        "Fragmentation Gradient Descent, ATC 2023",
    .recipe =
        "Of a node, the fragment is what is free on its accelerators and of no use to a job, in "
        "the mean over typical jobs. A node scores by how little the fragment grows when the job "
        "is placed there; a share of an accelerator tries every accelerator.",
    .assumptions = {"Jobs to come are like those of the workload, which is known before the run.",
                    "A job that needs no accelerator finds every free one useless, as published."},
    .ignores = {"when jobs leave"},
    .calibrate = "the workload itself",
    .params = params,
    .make = make};

}  // namespace foretrace::scheduling::fgd_parts
