// Maximum sum of rates: the cluster does as much as it can, for its price if that is asked for.
#include <algorithm>
#include <array>
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

class MaxSumThroughput final : public SharePolicy {
 public:
  explicit MaxSumThroughput(const ParamValues& params)
      : SharePolicy(round_options(params)),
        per_cost_(params.boolean(per_cost_param)),
        normalized_(params.boolean(normalized_param)),
        deadlines_(params.boolean(deadlines_param)) {}

  Result<std::vector<ShareRow>> shares(const View& view) override {
    if (view.active.empty()) return std::vector<ShareRow>{};
    if (deadlines_) {
      auto with = solve(view, true);
      if (with || with.error().code != ErrorCode::no_match) return with;
    }
    return solve(view, false);
  }

 private:
  [[nodiscard]] double gain(const View& view, const JobClass& jobs, std::size_t k) const {
    double gain = jobs.rates[k];
    if (normalized_) {
      gain /= std::max(1e-300, *std::max_element(jobs.rates.begin(), jobs.rates.end()));
    }
    const double price = view.cluster->kinds[make_id<KindId>(k)].price_per_hour;
    if (per_cost_ && price > 0) gain /= price;
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

  bool per_cost_;
  bool normalized_;
  bool deadlines_;
};

constexpr std::array params = {per_cost_param, normalized_param, deadlines_param,
                               reset_param,    newcomers_param,  seed_param};

}  // namespace

extern constexpr SchedulerInfo info = {
    .name = "max_sum_throughput",
    .summary = "The sum of all rates is as large as it can be, for its price if asked for.",
    .paper =
        "D. Narayanan et al., Heterogeneity-Aware Cluster Scheduling Policies for Deep "
        "Learning Workloads, OSDI 2020",
    .recipe =
        "A linear program maximizes the sum of rates, divided by prices where cost counts, with a "
        "row per deadline where these count; if deadlines cannot all be met they are left out.",
    .assumptions = {"Steps of all jobs are worth the same; with normalized, a step is worth what "
                    "it takes on the fastest kind."},
    .ignores = {"fairness: jobs with few steps per second may wait until the others are gone"},
    .calibrate = "rates: a table of throughput; prices: of the cluster",
    .params = params,
    .make = make_as<MaxSumThroughput>};

}  // namespace foretrace::scheduling::max_sum_throughput_parts
