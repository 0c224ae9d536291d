// Gavel's max-min fairness: the job that gains least over an equal division gains as much as
// possible.
#include <algorithm>
#include <array>
#include <vector>

#include "apps/scheduling/policies/centre.h"
#include "apps/scheduling/policies/share_classes.h"
#include "apps/scheduling/policies/shares.h"

namespace foretrace::scheduling::max_min_fairness_parts {
namespace {

// What a class makes of an equal division of the cluster: the measure of its gain.
double equal_rate(const View& view, const JobClass& jobs) {
  const std::vector<double> equal = equal_division(view, 1);
  double rate = 0;
  for (std::size_t k = 0; k < equal.size(); ++k) rate += equal[k] * jobs.rates[k];
  return rate;
}

class MaxMinFairness final : public SharePolicy {
 public:
  explicit MaxMinFairness(const ParamValues& params)
      : SharePolicy(round_options(params, !params.boolean(aware_param))),
        aware_(params.boolean(aware_param)) {}

  Result<std::vector<ShareRow>> shares(const View& view) override {
    if (view.active.empty()) return std::vector<ShareRow>{};
    return aware_ ? by_rates(view) : by_time(view);
  }

 private:
  // All kinds look alike: everybody gets the same accelerator time per weight, and what the
  // capacity leaves then is divided too.
  static std::vector<ShareRow> by_time(const View& view) {
    double weights = 0;
    double most = no_limit;  // per weight: no job runs more than all of the time
    std::vector<std::int32_t> gpus;
    for (const JobId id : view.active) {
      const Job& job = view.job(id);
      weights += job.weight;
      most = std::min(most, job.request.gpus / job.weight);
      gpus.push_back(job.request.gpus);
    }
    const double least = std::min(most, view.total() / weights);
    std::vector<double> shares;
    for (const JobId id : view.active) {
      shares.push_back(least * view.job(id).weight / view.job(id).request.gpus);
    }
    shares = centre(shares, gpus, view.total());
    std::vector<ShareRow> rows;
    for (std::size_t j = 0; j < shares.size(); ++j) {
      rows.push_back({.job = view.active[j], .share = spread_over_kinds(view, shares[j])});
    }
    return rows;
  }

  static Result<std::vector<ShareRow>> by_rates(const View& view) {
    const std::vector<JobClass> classes = classes_of(view);
    ShareProgram shares = share_program(view, classes);
    const std::size_t least = shares.program.add_column(1);
    for (std::size_t c = 0; c < classes.size(); ++c) {
      const JobClass& jobs = classes[c];
      const double equal = equal_rate(view, jobs);
      if (equal <= 0) continue;
      const std::size_t row = shares.program.add_row(0, no_limit);
      for (std::size_t k = 0; k < view.kinds(); ++k) {
        shares.program.add(row, shares.columns[c][k],
                           jobs.rates[k] / equal * jobs.gpus / jobs.weight);
      }
      shares.program.add(row, least, -static_cast<double>(jobs.jobs.size()));
    }
    FORETRACE_TRY(auto solution, shares.program.maximize());
    return divide(shares, classes, solution);
  }

  bool aware_;
};

constexpr std::array params = {aware_param, reset_param, newcomers_param, seed_param};

}  // namespace

extern constexpr SchedulerInfo info = {
    .name = "max_min_fairness",
    .summary = "The job that gains least over an equal division gains as much as it can (Gavel).",
    .paper =
        "D. Narayanan et al., Heterogeneity-Aware Cluster Scheduling Policies for Deep "
        "Learning Workloads, OSDI 2020",
    .recipe =
        "A linear program maximizes the least rate, relative to the rate under an equal division "
        "of every kind, times accelerators, per weight. Jobs that are alike are one class in it. "
        "Rounds bring the shares about: whoever lags most behind its share runs.",
    .assumptions = {"Rates on every kind are known before a job runs there.",
                    "A job on s accelerators deserves 1/s of the time of a job on one."},
    .ignores = {"time to stop and to start; the run can charge a restart"},
    .calibrate = "rates: a table of throughput",
    .params = params,
    .make = make_as<MaxMinFairness>};

}  // namespace foretrace::scheduling::max_min_fairness_parts
