// First come, first served in rounds: as the baseline of Gavel, where kinds of accelerators differ.
//
// paper     D. Narayanan et al., OSDI 2020 (baseline FIFO)
// assumes   a job that is not aware of kinds takes the first free one
// ignores   how long jobs take
// calibrate nothing
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "apps/scheduling/policies/shares.h"

namespace foretrace::scheduling::gavel_fifo_parts {
namespace {

class GavelFifo final : public SharePolicy {
 public:
  GavelFifo(const RoundOptions& options, bool aware) : SharePolicy(options), aware_(aware) {}

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

Result<std::unique_ptr<Policy>> make(const ParamValues& params) {
  RoundOptions options = round_options(params);
  options.uses_leftovers = false;
  const bool aware = params.boolean(aware_param);
  options.shuffles_kinds = !aware;
  return std::unique_ptr<Policy>(std::make_unique<GavelFifo>(options, aware));
}

constexpr std::array<std::string_view, 1> assumptions = {
    "A job that is not aware of kinds takes the first of the cluster that is free and keeps it."};
constexpr std::array<std::string_view, 1> ignores = {"how long jobs take"};
constexpr std::array params = {aware_param, reset_param, newcomers_param, seed_param};

constexpr SchedulerInfo info = {
    .name = "gavel_fifo",
    .summary = "First come, first served in rounds, on the fastest free kind if it is aware.",
    .paper =
        "D. Narayanan et al., Heterogeneity-Aware Cluster Scheduling Policies for Deep "
        "Learning Workloads, OSDI 2020 (baseline)",
    .recipe =
        "Jobs get accelerators in the order of arrival; the head of the queue blocks the rest. "
        "Aware of kinds, all are placed anew at every reset, each on the fastest kind with room; "
        "otherwise a job keeps the first kind with room.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "nothing",
    .params = params,
    .make = make};

}  // namespace
}  // namespace foretrace::scheduling::gavel_fifo_parts

namespace foretrace::schedulers {
extern const SchedulerInfo gavel_fifo;
constinit const SchedulerInfo gavel_fifo = scheduling::gavel_fifo_parts::info;
}  // namespace foretrace::schedulers
