// Minimum total duration: all jobs that are there now end as early as possible.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "apps/scheduling/policies/needs.h"
#include "apps/scheduling/policies/shares.h"

namespace foretrace::scheduling::min_total_duration_parts {
namespace {

constexpr ParamInfo width_param = {.name = "width",
                                   .type = ParamType::number,
                                   .unit = "1",
                                   .default_text = "0.001",
                                   .doc = "Bisection on the duration stops at this relative width.",
                                   .minimum = 1e-9,
                                   .maximum = 1};

class MinTotalDuration final : public SharePolicy {
 public:
  explicit MinTotalDuration(const ParamValues& params)
      : SharePolicy(round_options(params, !params.boolean(aware_param))),
        aware_(params.boolean(aware_param)),
        width_(params.number(width_param)) {}

  Result<std::vector<ShareRow>> shares(const View& view) override {
    if (view.active.empty()) return std::vector<ShareRow>{};
    const NeedProblem problem = need_problem(view, aware_, [](const std::vector<double>& rates) {
      return *std::max_element(rates.begin(), rates.end());
    });
    const auto needs_at = [&](double time_s) {
      std::vector<double> needs;
      for (const JobId id : view.active) needs.push_back(view.state(id).left / time_s);
      return needs;
    };
    FORETRACE_TRY(auto found, least_level(problem,
                                          {.low = 0,
                                           .high = 1e6,
                                           .factor = 10,
                                           .highest = 1e15,
                                           .width = width_,
                                           .goes_on = view.kinds() > 1},
                                          needs_at));
    return rows_of(view, problem, aware_, std::move(found.shares));
  }

 private:
  bool aware_;
  double width_;
};

constexpr std::array params = {aware_param, width_param, reset_param, newcomers_param, seed_param};

}  // namespace

extern constexpr SchedulerInfo info = {
    .name = "min_total_duration",
    .summary = "All current jobs end as early as possible.",
    .paper =
        "D. Narayanan et al., Heterogeneity-Aware Cluster Scheduling Policies for Deep "
        "Learning Workloads, OSDI 2020",
    .recipe =
        "Bisection on the time in which every job could end: at each time every job needs a "
        "rate, and prices of kinds, found by a linear program, tell whether all needs can be met.",
    .assumptions = {"Rates on every kind and remaining steps are known."},
    .ignores = {"jobs to come"},
    .calibrate = "rates: a table of throughput",
    .params = params,
    .make = make_as<MinTotalDuration>};

}  // namespace foretrace::scheduling::min_total_duration_parts
