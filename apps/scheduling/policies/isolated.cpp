// Every job gets its part of the cluster and no more.
//
// paper     D. Narayanan et al., Heterogeneity-Aware Cluster Scheduling Policies for Deep Learning
// Workloads, OSDI 2020 (baseline) assumes   a job deserves the same accelerator time as every other
// ignores   how fast jobs are
// calibrate nothing
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "apps/scheduling/policies/share_classes.h"
#include "apps/scheduling/policies/shares.h"

namespace foretrace::scheduling::isolated_parts {
namespace {

class Isolated final : public SharePolicy {
 public:
  using SharePolicy::SharePolicy;

  Result<std::vector<ShareRow>> shares(const View& view) override {
    std::vector<ShareRow> rows;
    for (const JobId job : view.active) {
      rows.push_back({.job = job, .share = equal_division(view, view.job(job).request.gpus)});
    }
    return rows;
  }
};

Result<std::unique_ptr<Policy>> make(const ParamValues& params) {
  RoundOptions options = round_options(params);
  options.shuffles_kinds = true;
  return std::unique_ptr<Policy>(std::make_unique<Isolated>(options));
}

constexpr std::array<std::string_view, 1> assumptions = {
    "A job deserves the same accelerator time as every other."};
constexpr std::array<std::string_view, 1> ignores = {"how fast jobs are"};
constexpr std::array params = {reset_param, newcomers_param, seed_param};

constexpr SchedulerInfo info = {
    .name = "isolated",
    .summary = "Every job gets an equal part of every kind: the measure of fairness.",
    .paper =
        "D. Narayanan et al., Heterogeneity-Aware Cluster Scheduling Policies for Deep Learning "
        "Workloads, OSDI 2020 (baseline)",
    .recipe =
        "The cluster is divided equally among jobs; a job on s accelerators gets 1/s of the time.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "nothing",
    .params = params,
    .make = make};

}  // namespace
}  // namespace foretrace::scheduling::isolated_parts

namespace foretrace::schedulers {
extern const SchedulerInfo isolated;
constinit const SchedulerInfo isolated = scheduling::isolated_parts::info;
}  // namespace foretrace::schedulers
