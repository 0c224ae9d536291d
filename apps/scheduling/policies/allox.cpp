// AlloX: waiting jobs are assigned to free machines such that the mean finish time is least.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "apps/scheduling/policies/shares.h"
#include "apps/scheduling/solver/assignment.h"

namespace foretrace::scheduling::allox_parts {
namespace {

constexpr ParamInfo alpha_param = {.name = "alpha",
                                   .type = ParamType::number,
                                   .unit = "1",
                                   .default_text = "1",
                                   .doc =
                                       "Share of waiting jobs to consider, oldest first, but at "
                                       "least as many as accelerators are free.",
                                   .minimum = 0,
                                   .maximum = 1};

class AlloX final : public SharePolicy {
 public:
  explicit AlloX(const ParamValues& params)
      : SharePolicy(round_options(params)), alpha_(params.number(alpha_param)) {}

  Result<std::vector<ShareRow>> shares(const View& view) override {
    forget_ended(view);
    MachineAssignment problem;
    for (const std::int32_t capacity : view.capacity->values()) {
      problem.machines.push_back(capacity);
    }
    std::vector<JobId> waiting;
    for (const JobId job : view.active) {
      const auto has = share_.find(job);
      if (has == share_.end() || !is_full(has->second)) {
        waiting.push_back(job);
        continue;
      }
      for (std::size_t k = 0; k < has->second.size(); ++k) {
        if (has->second[k] == 1) --problem.machines[k];
      }
    }
    for (std::int32_t& machines : problem.machines) machines = std::max(0, machines);
    const auto free = static_cast<std::size_t>(
        std::accumulate(problem.machines.begin(), problem.machines.end(), std::int32_t{0}));
    // Jobs are in the order of arrival: the oldest are looked at.
    const auto looked_at = static_cast<std::size_t>(alpha_ * static_cast<double>(waiting.size()));
    waiting.resize(std::min(waiting.size(), std::max(looked_at, free)));
    for (const JobId job : waiting) problem.times.push_back(times_of(view, job));
    start_first(view, problem, waiting);

    std::vector<ShareRow> rows;
    for (const JobId job : view.active) {
      const auto has = share_.find(job);
      rows.push_back(
          {.job = job,
           .share = has != share_.end() ? has->second : std::vector<double>(view.kinds(), 0)});
    }
    return rows;
  }

 private:
  static bool is_full(const std::vector<double>& share) {
    return std::accumulate(share.begin(), share.end(), 0.0) == 1;
  }
  void forget_ended(const View& view) {
    std::erase_if(share_, [&](const auto& entry) {
      return !std::binary_search(view.active.begin(), view.active.end(), entry.first);
    });
  }
  static std::vector<double> times_of(const View& view, JobId job) {
    std::vector<double> times;
    for (std::size_t k = 0; k < view.kinds(); ++k) {
      const double rate = view.rate(job, make_id<KindId>(k));
      times.push_back(rate > 0 ? view.state(job).left / rate
                               : std::numeric_limits<double>::infinity());
    }
    return times;
  }
  // The jobs that are first on their machines get them for themselves.
  void start_first(const View& view, const MachineAssignment& problem,
                   const std::vector<JobId>& waiting) {
    const std::vector<std::int32_t> kinds = least_mean_finish(problem);
    for (std::size_t k = 0; k < view.kinds(); ++k) {
      std::vector<std::size_t> jobs;
      for (std::size_t j = 0; j < waiting.size(); ++j) {
        if (kinds[j] == static_cast<std::int32_t>(k)) jobs.push_back(j);
      }
      // Dealt round the machines from the longest to the shortest: the last one of each runs first.
      std::stable_sort(jobs.begin(), jobs.end(), [&](std::size_t a, std::size_t b) {
        return problem.times[a][k] > problem.times[b][k];
      });
      const std::size_t first = jobs.size() - std::min(jobs.size(), machines_of(problem, k));
      for (std::size_t i = first; i < jobs.size(); ++i) {
        const JobId job = waiting[jobs[i]];
        std::vector<double>& share = share_[job];
        share.resize(view.kinds(), 0);
        share[k] = 1.0 / view.job(job).request.gpus;
      }
    }
  }
  static std::size_t machines_of(const MachineAssignment& problem, std::size_t kind) {
    return static_cast<std::size_t>(problem.machines[kind]);
  }

  double alpha_;
  std::map<JobId, std::vector<double>> share_;
};

constexpr std::array params = {alpha_param, reset_param, newcomers_param, seed_param};

}  // namespace

extern constexpr SchedulerInfo info = {
    .name = "allox",
    .summary = "Assign jobs to machines for the least mean finish time (AlloX).",
    .paper = "T. N. Le et al., AlloX: Compute Allocation in Hybrid Clusters, EuroSys 2020",
    .recipe =
        "Waiting jobs and places on free machines are matched at least cost, where the k-th place "
        "from the end costs k times the run time. The first job of each machine gets it and keeps "
        "it until it ends.",
    .assumptions = {"Rates on every kind and remaining steps are known.",
                    "A job on several accelerators takes the place of one in the assignment, and "
                    "then its part of the time."},
    .ignores = {"fairness beyond the share of jobs considered"},
    .calibrate = "alpha: fairness against mean finish time",
    .params = params,
    .make = make_as<AlloX>};

}  // namespace foretrace::scheduling::allox_parts
