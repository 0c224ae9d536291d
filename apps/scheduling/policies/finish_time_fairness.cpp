// Finish-time fairness: the job that an equal division would have served best is delayed least.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "apps/scheduling/policies/needs.h"
#include "apps/scheduling/policies/share_classes.h"
#include "apps/scheduling/policies/shares.h"
#include "sim/core/units.h"

namespace foretrace::scheduling::finish_time_fairness_parts {
namespace {

class FinishTimeFairness final : public SharePolicy {
 public:
  explicit FinishTimeFairness(const ParamValues& params)
      : SharePolicy(round_options(params, !params.boolean(aware_param))),
        aware_(params.boolean(aware_param)) {}

  Result<std::vector<ShareRow>> shares(const View& view) override {
    if (view.active.empty()) return std::vector<ShareRow>{};
    // Where all kinds look alike, they look like the first one the job runs on.
    const NeedProblem problem = need_problem(view, aware_, [](const std::vector<double>& rates) {
      const auto first = std::find_if(rates.begin(), rates.end(), [](double r) { return r > 0; });
      return first == rates.end() ? 0 : *first;
    });
    std::vector<double> passed_s;
    std::vector<double> alone_s;
    for (std::size_t j = 0; j < view.active.size(); ++j) {
      const JobId id = view.active[j];
      passed_s.push_back(seconds(view.now_ns - view.state(id).came_ns));
      alone_s.push_back(alone(view, id, problem.rates[j]));
    }
    const auto needs_at = [&](double level) {
      std::vector<double> needs;
      for (std::size_t j = 0; j < view.active.size(); ++j) {
        const double time_s = level * alone_s[j] - passed_s[j];
        constexpr double beyond = 1e20;
        needs.push_back(time_s > 0 ? view.state(view.active[j]).left / time_s : beyond);
      }
      return needs;
    };
    // At this level every job may take as long again as everything so far.
    FORETRACE_TRY(
        auto found,
        least_level(
            problem,
            {.low = 0, .high = 1, .factor = 4, .highest = 1e12, .goes_on = view.kinds() > 1},
            needs_at));
    return rows_of(view, problem, aware_, std::move(found.shares));
  }

 private:
  struct Alone {
    double passed_s = 0;  ///< what the steps done so far would have taken in an equal division
    double rate = 0;      ///< in the equal division of the last reset
    double left = 0;      ///< steps at the last reset
  };

  // The finish time of a job in an equal division of the cluster, as it was at each reset.
  double alone(const View& view, JobId id, const std::vector<double>& rates) {
    if (alone_.empty()) alone_.resize(view.workload->jobs.size());
    Alone& job = alone_[index(id)];
    const double left = view.state(id).left;
    if (job.rate > 0) job.passed_s += std::max(0.0, job.left - left) / job.rate;
    const std::vector<double> equal = equal_division(view, view.job(id).request.gpus);
    job.rate = 0;
    for (std::size_t k = 0; k < equal.size(); ++k) {
      job.rate += equal[k] * (aware_ ? rates[k] : rates.front());
    }
    job.left = left;
    return job.passed_s + (job.rate > 0 ? left / job.rate : 0);
  }

  bool aware_;
  std::vector<Alone> alone_;
};

constexpr std::array params = {aware_param, reset_param, newcomers_param, seed_param};

}  // namespace

extern constexpr SchedulerInfo info = {
    .name = "finish_time_fairness",
    .summary =
        "The largest finish time, relative to an equal division, is as small as it can be "
        "(Themis).",
    .paper =
        "K. Mahajan et al., Themis: Fair and Efficient GPU Cluster Scheduling, NSDI 2020; D. "
        "Narayanan et al., OSDI 2020",
    .recipe =
        "Bisection on the largest ratio of a job's finish time to its finish time in an equal "
        "division: at each level every job needs a rate, and prices of kinds, found by a linear "
        "program, tell whether all needs can be met.",
    .assumptions =
        {"Rates on every kind and remaining steps are known.",
         "Alone means in an equal division of the cluster among the jobs of the moment."},
    .ignores = {"bids and leases of the published system, which are its way to the same goal"},
    .calibrate = "rates: a table of throughput",
    .params = params,
    .make = make_as<FinishTimeFairness>};

}  // namespace foretrace::scheduling::finish_time_fairness_parts
