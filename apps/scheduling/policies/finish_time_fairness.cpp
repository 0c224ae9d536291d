// Finish-time fairness: the job that an equal division would have served best is delayed least.
//
// paper     K. Mahajan et al., Themis, NSDI 2020; as a linear program in D. Narayanan et al., OSDI
//           2020
// assumes   rates and remaining steps are known
// ignores   bids and leases of the published system, which are its way to the same goal
// calibrate rates: a table of throughput
#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "apps/scheduling/policies/centre.h"
#include "apps/scheduling/policies/needs.h"
#include "apps/scheduling/policies/share_classes.h"
#include "apps/scheduling/policies/shares.h"
#include "sim/core/units.h"

namespace foretrace::scheduling::finish_time_fairness_parts {
namespace {

class FinishTimeFairness final : public SharePolicy {
 public:
  FinishTimeFairness(const RoundOptions& options, bool aware)
      : SharePolicy(options), aware_(aware) {}

  Result<std::vector<ShareRow>> shares(const View& view) override {
    if (view.active.empty()) return std::vector<ShareRow>{};
    NeedProblem problem = problem_of(view);
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
    const bool several = view.kinds() > 1;
    double high = 1;
    auto found = least_level(problem, {.low = 0, .high = high, .goes_on = several}, needs_at);
    while (!found && found.error().code == ErrorCode::no_match && high < 1e12) {
      high *= 4;
      found = least_level(problem, {.low = 0, .high = high, .goes_on = several}, needs_at);
    }
    FORETRACE_TRY(found);
    return rows_of(view, problem, std::move(found->shares));
  }

 private:
  struct Alone {
    double passed_s = 0;  ///< what the steps done so far would have taken in an equal division
    double rate = 0;      ///< in the equal division of the last reset
    double left = 0;      ///< steps at the last reset
  };

  [[nodiscard]] std::vector<ShareRow> rows_of(const View& view, const NeedProblem& problem,
                                              std::vector<std::vector<double>> shares) const {
    std::vector<double> least;
    least.reserve(shares.size());
    for (const std::vector<double>& share : shares) least.push_back(share.front());
    // On a single kind the middle of all divisions that are equally good can be computed.
    if (view.kinds() == 1) least = centre(least, problem.gpus, problem.capacity.front());
    std::vector<ShareRow> rows;
    for (std::size_t j = 0; j < shares.size(); ++j) {
      rows.push_back({.job = view.active[j],
                      .share = aware_ && view.kinds() > 1 ? std::move(shares[j])
                                                          : spread_over_kinds(view, least[j])});
    }
    return rows;
  }

  [[nodiscard]] NeedProblem problem_of(const View& view) const {
    NeedProblem problem;
    for (const JobId id : view.active) {
      std::vector<double> rates;
      for (std::size_t k = 0; k < view.kinds(); ++k) {
        rates.push_back(view.rate(id, make_id<KindId>(k)));
      }
      // Where all kinds look alike, they look like the first one the job runs on.
      const auto first = std::find_if(rates.begin(), rates.end(), [](double r) { return r > 0; });
      if (!aware_ && first != rates.end()) rates.assign(1, *first);
      problem.rates.push_back(std::move(rates));
      problem.gpus.push_back(view.job(id).request.gpus);
    }
    for (const std::int32_t capacity : view.capacity->values()) {
      problem.capacity.push_back(capacity);
    }
    if (!aware_) problem.capacity.assign(1, view.total());
    return problem;
  }

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

Result<std::unique_ptr<Policy>> make(const ParamValues& params) {
  RoundOptions options = round_options(params);
  const bool aware = params.boolean(aware_param);
  options.shuffles_kinds = !aware;
  return std::unique_ptr<Policy>(std::make_unique<FinishTimeFairness>(options, aware));
}

constexpr std::array<std::string_view, 2> assumptions = {
    "Rates on every kind and remaining steps are known.",
    "Alone means in an equal division of the cluster among the jobs of the moment."};
constexpr std::array<std::string_view, 1> ignores = {
    "bids and leases of the published system, which are its way to the same goal"};
constexpr std::array params = {aware_param, reset_param, newcomers_param, seed_param};

constexpr SchedulerInfo info = {
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
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "rates: a table of throughput",
    .params = params,
    .make = make};

}  // namespace
}  // namespace foretrace::scheduling::finish_time_fairness_parts

namespace foretrace::schedulers {
extern const SchedulerInfo finish_time_fairness;
constinit const SchedulerInfo finish_time_fairness = scheduling::finish_time_fairness_parts::info;
}  // namespace foretrace::schedulers
