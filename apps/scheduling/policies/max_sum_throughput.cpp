// Maximum sum of rates: the cluster does as much as it can, for its price if that is asked for.
//
// paper     D. Narayanan et al., OSDI 2020 (policies for throughput and cost); MST in P. Zheng et
//           al., NSDI 2023
// assumes   steps of all jobs are worth the same, or are measured on their fastest kind
// ignores   fairness: jobs with few steps per second may wait until the others are gone
// calibrate rates and prices
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/scheduling/policies/share_classes.h"
#include "apps/scheduling/policies/shares.h"
#include "sim/core/units.h"

namespace foretrace::scheduling::max_sum_throughput_parts {
namespace {

constexpr ParamInfo per_cost_param = {.name = "per_cost",
                                      .type = ParamType::boolean,
                                      .default_text = "false",
                                      .doc = "Rates are divided by the price of the kind."};
constexpr ParamInfo normalized_param = {
    .name = "normalized",
    .type = ParamType::boolean,
    .default_text = "false",
    .doc = "Rates are relative to the fastest kind of the job."};
constexpr ParamInfo deadlines_param = {
    .name = "deadlines",
    .type = ParamType::boolean,
    .default_text = "false",
    .doc = "Every job with a deadline gets the rate that meets it, if all can be met."};

struct Settings {
  bool per_cost = false;
  bool normalized = false;
  bool deadlines = false;
};

class MaxSumThroughput final : public SharePolicy {
 public:
  MaxSumThroughput(const RoundOptions& options, Settings settings)
      : SharePolicy(options), settings_(settings) {}

  Result<std::vector<ShareRow>> shares(const View& view) override {
    if (view.active.empty()) return std::vector<ShareRow>{};
    if (settings_.deadlines) {
      auto with = solve(view, true);
      if (with || with.error().code != ErrorCode::no_match) return with;
    }
    return solve(view, false);
  }

 private:
  [[nodiscard]] double gain(const View& view, const JobClass& jobs, std::size_t k) const {
    double gain = jobs.rates[k];
    if (settings_.normalized) {
      gain /= std::max(1e-300, *std::max_element(jobs.rates.begin(), jobs.rates.end()));
    }
    const double price = view.cluster->kinds[make_id<KindId>(k)].price_per_hour;
    if (settings_.per_cost && price > 0) gain /= price;
    return gain;
  }

  // Classes of jobs that are alike; with deadlines every job is a class of its own.
  [[nodiscard]] Result<std::vector<ShareRow>> solve(const View& view, bool deadlines) const {
    std::vector<JobClass> classes = classes_of(view);
    if (deadlines) classes = one_by_one(classes);
    ShareProgram shares = share_program(view, classes);
    const std::size_t total = shares.program.add_column(1, -no_limit);
    const std::size_t sum = shares.program.add_row(0, no_limit);
    shares.program.add(sum, total, -1);
    for (std::size_t c = 0; c < classes.size(); ++c) {
      for (std::size_t k = 0; k < view.kinds(); ++k) {
        shares.program.add(sum, shares.columns[c][k], gain(view, classes[c], k));
      }
      if (!deadlines) continue;
      const JobId id = classes[c].jobs.front();
      const Job& job = view.job(id);
      if (job.deadline_ns == never_ns || job.deadline_ns <= view.now_ns) continue;
      const double needed = view.state(id).left / seconds(job.deadline_ns - view.now_ns);
      const std::size_t row = shares.program.add_row(needed, no_limit);
      for (std::size_t k = 0; k < view.kinds(); ++k) {
        shares.program.add(row, shares.columns[c][k], classes[c].rates[k]);
      }
    }
    FORETRACE_TRY(auto solution, shares.program.maximize());
    return divide(shares, classes, solution);
  }

  static std::vector<JobClass> one_by_one(const std::vector<JobClass>& classes) {
    std::vector<JobClass> single;
    for (const JobClass& jobs : classes) {
      for (const JobId job : jobs.jobs) {
        single.push_back(jobs);
        single.back().jobs = {job};
      }
    }
    return single;
  }

  Settings settings_;
};

Result<std::unique_ptr<Policy>> make(const ParamValues& params) {
  const Settings settings{.per_cost = params.boolean(per_cost_param),
                          .normalized = params.boolean(normalized_param),
                          .deadlines = params.boolean(deadlines_param)};
  return std::unique_ptr<Policy>(
      std::make_unique<MaxSumThroughput>(round_options(params), settings));
}

constexpr std::array<std::string_view, 1> assumptions = {
    "Steps of all jobs are worth the same; with normalized, a step is worth what it takes on the "
    "fastest kind."};
constexpr std::array<std::string_view, 1> ignores = {
    "fairness: jobs with few steps per second may wait until the others are gone"};
constexpr std::array params = {per_cost_param, normalized_param, deadlines_param,
                               reset_param,    newcomers_param,  seed_param};

constexpr SchedulerInfo info = {
    .name = "max_sum_throughput",
    .summary = "The sum of all rates is as large as it can be, for its price if asked for.",
    .paper =
        "D. Narayanan et al., Heterogeneity-Aware Cluster Scheduling Policies for Deep "
        "Learning Workloads, OSDI 2020",
    .recipe =
        "A linear program maximizes the sum of rates, divided by prices where cost counts, with a "
        "row per deadline where these count; if deadlines cannot all be met they are left out.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "rates: a table of throughput; prices: of the cluster",
    .params = params,
    .make = make};

}  // namespace
}  // namespace foretrace::scheduling::max_sum_throughput_parts

namespace foretrace::schedulers {
extern const SchedulerInfo max_sum_throughput;
constinit const SchedulerInfo max_sum_throughput = scheduling::max_sum_throughput_parts::info;
}  // namespace foretrace::schedulers
