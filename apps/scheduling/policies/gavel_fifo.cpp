// First come, first served in rounds: as the baseline of Gavel, where kinds of accelerators differ.
#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "apps/scheduling/policies/shares.h"

namespace foretrace::scheduling::gavel_fifo_parts {
namespace {

class GavelFifo final : public SharePolicy {
 public:
  explicit GavelFifo(const ParamValues& params)
      : SharePolicy(options_of(params)), aware_(params.boolean(aware_param)) {}

  Result<std::vector<ShareRow>> shares(const View& view) override {
    Column<KindId, std::int32_t> free = *view.capacity;
    std::erase_if(kind_, [&](const auto& entry) {
      return aware_ || !std::binary_search(view.active.begin(), view.active.end(), entry.first);
    });
    for (const auto& [job, kind] : kind_) free[kind] -= view.job(job).request.gpus;
    for (const JobId job : view.active) {
      if (kind_.contains(job)) continue;
      const KindId kind = choose(view, job, free);
      if (kind == none<KindId>) break;  // the head of the queue blocks the rest
      kind_[job] = kind;
      free[kind] -= view.job(job).request.gpus;
    }
    std::vector<ShareRow> rows;
    for (const JobId job : view.active) {
      rows.push_back({.job = job, .share = std::vector<double>(view.kinds(), 0)});
      const auto has = kind_.find(job);
      if (has != kind_.end()) rows.back().share[index(has->second)] = 1;
    }
    return rows;
  }

 private:
  static RoundOptions options_of(const ParamValues& params) {
    RoundOptions options = round_options(params, !params.boolean(aware_param));
    options.uses_leftovers = false;
    return options;
  }
  [[nodiscard]] KindId choose(const View& view, JobId job,
                              const Column<KindId, std::int32_t>& free) const {
    KindId best = none<KindId>;
    double best_rate = 0;
    for (std::size_t k = 0; k < view.kinds(); ++k) {
      const auto kind = make_id<KindId>(k);
      const double rate = view.rate(job, kind);
      if (free[kind] < view.job(job).request.gpus || rate <= best_rate) continue;
      best = kind;
      best_rate = rate;
      if (!aware_) break;
    }
    return best;
  }

  bool aware_;
  std::map<JobId, KindId> kind_;
};

constexpr std::array params = {aware_param, reset_param, newcomers_param, seed_param};

}  // namespace

extern constexpr SchedulerInfo info = {
    .name = "gavel_fifo",
    .summary = "First come, first served in rounds, on the fastest free kind if it is aware.",
    .paper =
        "D. Narayanan et al., Heterogeneity-Aware Cluster Scheduling Policies for Deep "
        "Learning Workloads, OSDI 2020 (baseline)",
    .recipe =
        "Jobs get accelerators in the order of arrival; the head of the queue blocks the rest. "
        "Aware of kinds, all are placed anew at every reset, each on the fastest kind with room; "
        "otherwise a job keeps the first kind with room.",
    .assumptions = {"A job that is not aware of kinds takes the first of the cluster that is free "
                    "and keeps it."},
    .ignores = {"how long jobs take"},
    .calibrate = "nothing",
    .params = params,
    .make = make_as<GavelFifo>};

}  // namespace foretrace::scheduling::gavel_fifo_parts
