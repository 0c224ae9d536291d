// The node whose jobs end with the new one, as far as ends can be predicted.
//
//   node 1 is used until 10 h, node 2 until 2 h; a job of 8 h comes
//   best fit may keep node 2 open for 6 h more; here the job goes to node 1, and node 2 is empty
//   after 2 h
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "apps/scheduling/placements/gang.h"
#include "apps/scheduling/placements/placement.h"
#include "sim/core/mersenne.h"
#include "sim/core/whole.h"

namespace foretrace::scheduling::lifetime_alignment_parts {
namespace {

constexpr ParamInfo error_param = {
    .name = "error",
    .type = ParamType::number,
    .unit = "1",
    .default_text = "0",
    .doc =
        "A lifetime is predicted as the actual one times (1 + error)^u, u evenly from -1 to 1, "
        "drawn for each job with the seed of the run; 0: predictions are right.",
    .minimum = 0,
    .maximum = 1e6};
constexpr ParamInfo grain_param = {
    .name = "grain",
    .type = ParamType::time,
    .unit = "s",
    .default_text = "0 s",
    .doc = "Ends that differ by less count as equal, and what is left of the node decides.",
    .minimum = 0,
    .maximum = 1e18};

class LifetimeAlignment final : public Placement {
 public:
  LifetimeAlignment(std::vector<std::int64_t> predicted_ns, std::int64_t grain_ns)
      : predicted_ns_(std::move(predicted_ns)), grain_ns_(grain_ns) {}

  void consider(JobId job, std::int64_t now_ns) override {
    now_ns_ = now_ns;
    ends_ns_ = later(now_ns, predicted_ns_[index(job)]);
  }
  void started(JobId job, std::span<const Slice> slices) override {
    std::vector<NodeId>& nodes = nodes_of_[job];
    const std::int64_t ends_ns = later(now_ns_, predicted_ns_[index(job)]);
    for (const Slice& slice : slices) {
      nodes.push_back(slice.node);
      Stays& stays = stays_of_[slice.node];
      stays.ends_ns[job] = ends_ns;
      stays.last_ns = std::max(stays.last_ns, ends_ns);
    }
  }
  void left(JobId job) override {
    for (const NodeId node : nodes_of_[job]) {
      Stays& stays = stays_of_[node];
      stays.ends_ns.erase(job);
      stays.last_ns = 0;
      for (const auto& entry : stays.ends_ns) stays.last_ns = std::max(stays.last_ns, entry.second);
    }
    nodes_of_.erase(job);
  }

  std::optional<std::vector<Slice>> place(const Occupancy& occupancy,
                                          const Request& request) override {
    NodeId best = none<NodeId>;
    Key best_key;
    for (std::size_t i = 0; i < occupancy.nodes().size(); ++i) {
      const auto node = make_id<NodeId>(i);
      if (!occupancy.node(node).fits(request)) continue;
      const Key key = key_of(occupancy, node, request);
      if (best != none<NodeId> && !(key < best_key)) continue;
      best = node;
      best_key = key;
    }
    if (best == none<NodeId>) return std::nullopt;
    return std::vector<Slice>{slice_on(occupancy, best, request)};
  }

 private:
  // Jobs on a node and when they should end.
  struct Stays {
    std::map<JobId, std::int64_t> ends_ns;
    std::int64_t last_ns = 0;
  };
  // Empty or not, how much longer the node is used, how much longer its jobs stay, what is left.
  using Key = std::tuple<bool, std::int64_t, std::int64_t, double>;

  [[nodiscard]] Key key_of(const Occupancy& occupancy, NodeId node, const Request& request) const {
    const double left = share_left(occupancy, node, request);
    const auto found = stays_of_.find(node);
    if (found == stays_of_.end() || found->second.ends_ns.empty()) return {true, 0, 0, left};
    // A job past its predicted end may end at any time.
    const std::int64_t node_ends_ns = std::max(now_ns_, found->second.last_ns);
    return {false, grains(ends_ns_ - node_ends_ns), grains(node_ends_ns - ends_ns_), left};
  }
  [[nodiscard]] std::int64_t grains(std::int64_t ns) const {
    return std::max<std::int64_t>(0, ns) / std::max<std::int64_t>(1, grain_ns_);
  }

  std::vector<std::int64_t> predicted_ns_;  ///< by job
  std::int64_t grain_ns_;
  std::int64_t now_ns_ = 0;
  std::int64_t ends_ns_ = 0;  ///< of the job that is placed
  std::map<NodeId, Stays> stays_of_;
  std::map<JobId, std::vector<NodeId>> nodes_of_;
};

Result<std::unique_ptr<Placement>> make(const PlacementSetup& setup, const ParamValues& params) {
  if (setup.throughput == nullptr) {
    return Error{ErrorCode::bad_config,
                 "placement lifetime_alignment: needs to know how fast jobs "
                 "run, got no throughput"};
  }
  Random random(setup.seed);
  const double error = params.number(error_param);
  std::vector<std::int64_t> predicted_ns;
  for (const Job& job : setup.workload->jobs.values()) {
    const double factor = std::pow(1 + error, random.uniform(-1, 1));
    const double ns =
        std::clamp(seconds_alone(*setup.cluster, *setup.throughput, job) * factor * 1e9, 0.0, 4e18);
    predicted_ns.push_back(to_whole(ns));
  }
  return std::unique_ptr<Placement>(std::make_unique<LifetimeAlignment>(
      std::move(predicted_ns), static_cast<std::int64_t>(params.number(grain_param))));
}

constexpr std::array params = {error_param, grain_param};

}  // namespace

extern constexpr PlacementInfo info = {
    .name = "lifetime_alignment",
    .summary = "Take the node whose jobs end with the new one, by predicted lifetimes.",
    .paper =
        "H. Barbalho et al., Virtual Machine Allocation with Lifetime Predictions, MLSys 2023 (the "
        "idea; the rule is stated here)",
    .recipe =
        "Nodes that run jobs are preferred to empty ones. Among them the one that is used the "
        "least longer for this job, then the one whose last job ends the soonest after it, then "
        "the one with the least left of its cores, memory and accelerators.",
    .assumptions =
        {"A lifetime is predicted once, when the job is placed; a prediction is off by a factor.",
         "A job that runs past its predicted end may end at any time.",
         "All of a job fits on one node."},
    .ignores = {"work of a job before it was preempted", "moves of running jobs",
                "predictions that are made again while a job runs"},
    .calibrate = "error: predicted over actual lifetimes of past jobs.",
    .params = params,
    .make = make};

}  // namespace foretrace::scheduling::lifetime_alignment_parts
