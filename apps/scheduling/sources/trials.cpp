// papers    K. Jamieson, A. Talwalkar, Non-stochastic Best Arm Identification and Hyperparameter
//           Optimization, AISTATS 2016 (successive halving); L. Li et al., Hyperband, JMLR 2018;
//           L. Li et al., A System for Massively Parallel Hyperparameter Tuning, MLSys 2020 (ASHA)
#include "apps/scheduling/sources/trials.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/scheduling/sources/job_table.h"
#include "sim/core/mersenne.h"

namespace foretrace::scheduling {
namespace {

struct Trial {
  std::size_t number = 0;
  double quality = 0;
  double factor = 1;  // of its steps
  double steps = 0;   // asha: so far
};

// Rungs of one bracket: which trials, and steps in all once a rung is over.
struct Bracket {
  std::string name;
  std::size_t trials = 0;
  std::int32_t first_rung = 0;
};

class Search {
 public:
  Search(const SearchOptions& options, Workload& workload)
      : options_(options), workload_(workload), random_(options.seed) {}

  void add(const Bracket& bracket) {
    std::vector<Trial> trials;
    for (std::size_t i = 0; i < bracket.trials; ++i) {
      const double quality = random_.uniform();
      const double factor = std::pow(1 + options_.spread, random_.uniform(-1, 1));
      trials.push_back({i, quality, factor, 0});
    }
    if (options_.kind == SearchKind::grid) {
      for (const Trial& trial : trials) {
        add_job(name_of(bracket, trial), steps_to(options_.rungs - 1) * trial.factor, -1, -1);
      }
      return;
    }
    std::int32_t last_group = -1;
    for (std::int32_t rung = bracket.first_rung; rung < options_.rungs && !trials.empty(); ++rung) {
      const double before = rung == bracket.first_rung ? 0 : steps_to(rung - 1);
      const double steps = steps_to(rung) - before;
      const bool is_asha = options_.kind == SearchKind::asha;
      const std::int32_t group =
          is_asha ? -1 : group_called(workload_, fmt::format("{}rung {}", bracket.name, rung + 1));
      for (Trial& trial : trials) {
        trial.steps += steps * trial.factor;
        if (is_asha) continue;
        add_job(fmt::format("{}, rung {}", name_of(bracket, trial), rung + 1), steps * trial.factor,
                group, last_group);
      }
      last_group = group;
      trials = keep_best(std::move(trials), bracket, rung + 1 == options_.rungs);
    }
  }

 private:
  [[nodiscard]] double steps_to(std::int32_t rung) const {
    return options_.steps * std::pow(options_.eta, rung);
  }
  static std::string name_of(const Bracket& bracket, const Trial& trial) {
    return fmt::format("{}trial {}", bracket.name, trial.number + 1);
  }

  // One in eta goes on. With asha those that stop here are whole jobs now.
  std::vector<Trial> keep_best(std::vector<Trial> trials, const Bracket& bracket, bool is_last) {
    std::vector<std::pair<double, std::size_t>> scores;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      scores.emplace_back(-trials[i].quality - options_.noise * random_.uniform(-1, 1), i);
    }
    std::sort(scores.begin(), scores.end());
    const std::size_t stay = is_last ? 0 : trials.size() / static_cast<std::size_t>(options_.eta);
    std::vector<bool> stays(trials.size(), false);
    for (std::size_t i = 0; i < stay; ++i) stays[scores[i].second] = true;
    std::vector<Trial> kept;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (stays[i]) {
        kept.push_back(trials[i]);
      } else if (options_.kind == SearchKind::asha) {
        add_job(name_of(bracket, trials[i]), trials[i].steps, -1, -1);
      }
    }
    return kept;
  }

  void add_job(std::string name, double steps, std::int32_t group, std::int32_t after) {
    Job job;
    job.name = std::move(name);
    job.type = options_.type;
    job.request.gpus = options_.gpus;
    job.least_gpus = options_.least_gpus;
    job.most_gpus = options_.most_gpus;
    job.phases = {steps};
    job.group = group;
    job.after = after;
    workload_.jobs.push_back(std::move(job));
  }

  const SearchOptions& options_;
  Workload& workload_;
  Random random_;
};

}  // namespace

std::size_t bracket_trials(std::int32_t rungs, std::int32_t eta, std::int32_t bracket) {
  // Brackets from the one with the most trials: s = rungs - 1 down to 0.
  const double s = rungs - 1 - bracket;
  return static_cast<std::size_t>(std::ceil(rungs / (s + 1) * std::pow(eta, s) - 1e-9));
}

void add_trials(const SearchOptions& options, Workload& workload) {
  Search search(options, workload);
  if (options.kind != SearchKind::hyperband) return search.add({"", options.trials, 0});
  for (std::int32_t bracket = 0; bracket < options.rungs; ++bracket) {
    search.add({fmt::format("bracket {}, ", bracket + 1),
                bracket_trials(options.rungs, options.eta, bracket), bracket});
  }
}

}  // namespace foretrace::scheduling
