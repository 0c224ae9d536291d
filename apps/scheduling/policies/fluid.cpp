// Water-filling: every trial of a search gets accelerators by how much work it has left, so that
// all end together.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "apps/scheduling/policies/scheduler_info.h"

namespace foretrace::scheduling::fluid_parts {
namespace {

constexpr ParamInfo least_param = {
    .name = "least",
    .type = ParamType::number,
    .unit = "x",
    .default_text = "2",
    .doc = "Weight of the trials with the least left (1/c of the paper, as coded there).",
    .minimum = 0.001,
    .maximum = 1e6};
constexpr ParamInfo most_param = {
    .name = "most",
    .type = ParamType::number,
    .unit = "x",
    .default_text = "4",
    .doc = "Weight of the trials with the most left (d of the paper).",
    .minimum = 0.001,
    .maximum = 1e6};

// A job on its kind.
struct Trial {
  JobId job{};
  double height = 0;       ///< time that is left on one accelerator, or on the least it takes
  std::int32_t least = 1;  ///< accelerators
  std::int32_t most = 1;
  std::int32_t width = 0;
  double share = 0;  ///< of the pool, in accelerators
};

class Fluid final : public Policy {
 public:
  Fluid(double least, double most) : least_(least), most_(most) {}

  Status decide(const View& view, Offer& offer) override {
    for (std::size_t k = 0; k < view.kinds(); ++k) {
      const auto kind = make_id<KindId>(k);
      std::vector<Trial> trials = trials_on(view, kind);
      fill(trials, (*view.capacity)[kind]);
      for (Trial& trial : trials) {
        if (trial.width > 0) offer.grant(trial.job, kind, usable(view, trial, kind));
      }
    }
    return ok_status();
  }

 private:
  // Those that run first, then those with the most left: they would be the last to end.
  static std::vector<Trial> trials_on(const View& view, KindId kind) {
    std::vector<Trial> trials;
    for (const JobId id : view.active) {
      const Job& job = view.job(id);
      Trial trial{.job = id, .least = job.request.gpus, .most = job.request.gpus};
      if (job.is_elastic()) {
        trial.least = std::max(1, job.least_gpus);
        trial.most = job.most_gpus;
      }
      if (view.fastest_kind(id, trial.least) != kind) continue;
      trial.height = view.state(id).left / view.rate(id, kind, trial.least);
      trials.push_back(trial);
    }
    const auto runs = [&](const Trial& trial) {
      return view.state(trial.job).status == JobStatus::running;
    };
    std::stable_sort(trials.begin(), trials.end(), [&](const Trial& a, const Trial& b) {
      if (runs(a) != runs(b)) return runs(a);
      return a.height > b.height;
    });
    return trials;
  }

  void fill(std::vector<Trial>& trials, std::int32_t pool) const {
    // As many as fit with the least each of them takes; the others wait.
    std::int32_t left = pool;
    std::vector<Trial*> running;
    for (Trial& trial : trials) {
      if (trial.least > left) continue;
      trial.width = trial.least;
      left -= trial.least;
      running.push_back(&trial);
    }
    if (running.empty() || left == 0) return;
    double heights = 0;
    for (const Trial* trial : running) heights += trial->height;
    const double mean = heights / static_cast<double>(running.size());
    double weights = 0;
    for (Trial* trial : running) {
      const double level = mean > 0 ? std::floor(trial->height / mean) : 1;
      trial->share = std::min(std::max(level, least_), most_);
      weights += trial->share;
    }
    for (Trial* trial : running) trial->share *= static_cast<double>(pool) / weights;
    // Whole accelerators: the next one goes to who is furthest below its share and can grow.
    while (left > 0) {
      Trial* neediest = nullptr;
      for (Trial* trial : running) {
        if (trial->width >= trial->most) continue;
        if (neediest == nullptr || lack(*trial) > lack(*neediest)) neediest = trial;
      }
      if (neediest == nullptr) return;
      ++neediest->width;
      --left;
    }
  }
  static double lack(const Trial& trial) { return trial.share - trial.width; }

  // The most accelerators up to its width at which it is known to run, and no slower.
  static std::int32_t usable(const View& view, const Trial& trial, KindId kind) {
    std::int32_t best = trial.least;
    double best_rate = view.rate(trial.job, kind, best);
    for (std::int32_t gpus = trial.least + 1; gpus <= trial.width; ++gpus) {
      const double rate = view.rate(trial.job, kind, gpus);
      if (rate <= best_rate) continue;
      best = gpus;
      best_rate = rate;
    }
    return best;
  }

  double least_;
  double most_;
};

Result<std::unique_ptr<Policy>> make(const ParamValues& params) {
  const double least = params.number(least_param);
  const double most = params.number(most_param);
  if (most < least) {
    return Error{ErrorCode::bad_config, "scheduler fluid: parameter 'most' is below 'least'"};
  }
  return std::unique_ptr<Policy>(std::make_unique<Fluid>(least, most));
}

constexpr std::array params = {least_param, most_param};

}  // namespace

extern constexpr SchedulerInfo info = {
    .name = "fluid",
    .summary = "Trials get accelerators by the work they have left, so that all end together.",
    .paper =
        "P. Yu, J. Liu, M. Chowdhury, Fluid: Resource-aware Hyperparameter Tuning Engine, MLSys "
        "2021 (TrialGroup and water-filling)",
    .recipe =
        "The weight of a job is its time left over the mean of all, rounded down, between `least` "
        "and `most`. The accelerators are divided by weight, at least the least that a job takes "
        "and at most its most. With more jobs than fit those that run stay, then those with the "
        "most left start.",
    .assumptions =
        {"What is left of every job is known, in time on the least accelerators that it takes.",
         "A job with least_gpus and most_gpus runs on any number between them at which it has a "
         "rate.",
         "A job that gets another number of accelerators pays a restart."},
    .ignores = {"several jobs on one accelerator",
                "that more accelerators help some jobs more than others"},
    .calibrate = "most: the number beyond which trials hardly get faster.",
    .params = params,
    .make = make};

}  // namespace foretrace::scheduling::fluid_parts
