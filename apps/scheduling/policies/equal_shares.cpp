// Every job gets an equal share of every kind.
#include <array>
#include <vector>

#include "apps/scheduling/policies/share_classes.h"
#include "apps/scheduling/policies/shares.h"

namespace foretrace::scheduling::equal_shares_parts {
namespace {

// Equal shares of time, however many accelerators a job takes; or of time times accelerators.
template <bool by_accelerators>
class EqualShares final : public SharePolicy {
 public:
  explicit EqualShares(const ParamValues& params) : SharePolicy(round_options(params, true)) {}

  Result<std::vector<ShareRow>> shares(const View& view) override {
    std::vector<ShareRow> rows;
    for (const JobId job : view.active) {
      const std::int32_t gpus = by_accelerators ? view.job(job).request.gpus : 1;
      rows.push_back({.job = job, .share = equal_division(view, gpus)});
    }
    return rows;
  }
};

constexpr std::array params = {reset_param, newcomers_param, seed_param};

constexpr std::array rows = {
    SchedulerInfo{
        .name = "gandiva_fair",
        .summary = "Every job gets the same share of time on every kind.",
        .paper =
            "S. Chaudhary et al., Balancing Efficiency and Fairness in Heterogeneous GPU Clusters "
            "for Deep Learning, EuroSys 2020",
        .recipe = "The cluster is divided equally among jobs, not among accelerators asked for.",
        .assumptions = {"A job deserves the same time however many accelerators it takes."},
        .ignores = {"trading of fast kinds between users"},
        .calibrate = "nothing",
        .params = params,
        .make = make_as<EqualShares<false>>},
    SchedulerInfo{
        .name = "isolated",
        .summary = "Every job gets an equal part of every kind: the measure of fairness.",
        .paper = "D. Narayanan et al., Heterogeneity-Aware Cluster Scheduling Policies for Deep "
                 "Learning Workloads, OSDI 2020 (baseline)",
        .recipe =
            "The cluster is divided equally among jobs; a job on s accelerators gets 1/s of the "
            "time.",
        .assumptions = {"A job deserves the same accelerator time as every other."},
        .ignores = {"how fast jobs are"},
        .calibrate = "nothing",
        .params = params,
        .make = make_as<EqualShares<true>>}};

}  // namespace

extern constexpr std::span<const SchedulerInfo> infos = rows;

}  // namespace foretrace::scheduling::equal_shares_parts
