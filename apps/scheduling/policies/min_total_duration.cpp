// Minimum total duration: all jobs that are there now end as early as possible.
//
// paper     D. Narayanan et al., OSDI 2020 (policy for makespan); OSSP in P. Zheng et al., NSDI
// 2023 assumes   rates and remaining steps are known ignores   jobs to come calibrate rates: a
// table of throughput
#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "apps/scheduling/policies/centre.h"
#include "apps/scheduling/policies/needs.h"
#include "apps/scheduling/policies/share_classes.h"
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
  MinTotalDuration(const RoundOptions& options, bool aware, double width)
      : SharePolicy(options), aware_(aware), width_(width) {}

  Result<std::vector<ShareRow>> shares(const View& view) override {
    if (view.active.empty()) return std::vector<ShareRow>{};
    NeedProblem problem;
    for (const JobId id : view.active) {
      std::vector<double> rates;
      for (std::size_t k = 0; k < view.kinds(); ++k) {
        rates.push_back(view.rate(id, make_id<KindId>(k)));
      }
      if (!aware_) rates.assign(1, *std::max_element(rates.begin(), rates.end()));
      problem.rates.push_back(std::move(rates));
      problem.gpus.push_back(view.job(id).request.gpus);
    }
    for (const std::int32_t capacity : view.capacity->values()) {
      problem.capacity.push_back(capacity);
    }
    if (!aware_) problem.capacity.assign(1, view.total());
    const auto needs_at = [&](double time_s) {
      std::vector<double> needs;
      for (const JobId id : view.active) needs.push_back(view.state(id).left / time_s);
      return needs;
    };
    const bool several = view.kinds() > 1;
    double high = 1e6;
    auto found = least_level(problem, {.low = 0, .high = high, .width = width_, .goes_on = several},
                             needs_at);
    while (!found && found.error().code == ErrorCode::no_match && high < 1e15) {
      high *= 10;
      found = least_level(problem, {.low = 0, .high = high, .width = width_, .goes_on = several},
                          needs_at);
    }
    FORETRACE_TRY(found);
    std::vector<std::vector<double>>& shares = found->shares;
    std::vector<double> least;
    least.reserve(shares.size());
    for (const std::vector<double>& share : shares) least.push_back(share.front());
    // On a single kind the middle of all divisions that are equally good can be computed.
    if (view.kinds() == 1) least = centre(least, problem.gpus, problem.capacity.front());
    std::vector<ShareRow> rows;
    for (std::size_t j = 0; j < view.active.size(); ++j) {
      rows.push_back({.job = view.active[j],
                      .share = aware_ && view.kinds() > 1 ? std::move(shares[j])
                                                          : spread_over_kinds(view, least[j])});
    }
    return rows;
  }

 private:
  bool aware_;
  double width_;
};

Result<std::unique_ptr<Policy>> make(const ParamValues& params) {
  RoundOptions options = round_options(params);
  const bool aware = params.boolean(aware_param);
  options.shuffles_kinds = !aware;
  return std::unique_ptr<Policy>(
      std::make_unique<MinTotalDuration>(options, aware, params.number(width_param)));
}

constexpr std::array<std::string_view, 1> assumptions = {
    "Rates on every kind and remaining steps are known."};
constexpr std::array<std::string_view, 1> ignores = {"jobs to come"};
constexpr std::array params = {aware_param, width_param, reset_param, newcomers_param, seed_param};

constexpr SchedulerInfo info = {
    .name = "min_total_duration",
    .summary = "All jobs that are there now end as early as possible.",
    .paper =
        "D. Narayanan et al., Heterogeneity-Aware Cluster Scheduling Policies for Deep "
        "Learning Workloads, OSDI 2020",
    .recipe =
        "Bisection on the time in which every job could end: at each time every job needs a "
        "rate, and prices of kinds, found by a linear program, tell whether all needs can be met.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "rates: a table of throughput",
    .params = params,
    .make = make};

}  // namespace
}  // namespace foretrace::scheduling::min_total_duration_parts

namespace foretrace::schedulers {
extern const SchedulerInfo min_total_duration;
constinit const SchedulerInfo min_total_duration = scheduling::min_total_duration_parts::info;
}  // namespace foretrace::schedulers
