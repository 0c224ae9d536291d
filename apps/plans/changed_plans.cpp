#include "apps/plans/changed_plans.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/session/load_run.h"

namespace foretrace {
namespace {

/// A what-if may turn the order of plans round, but hardly further.
constexpr double slowest_tried = 3;
/// Each is simulated operator by operator.
constexpr std::size_t most_tried = 24;

struct Tried {
  PlanChoice choice;
  bool fits = false;
};

class ChangedPlans {
 public:
  ChangedPlans(const PlanQuestion& question, const CataloguePtr& known)
      : question_(question), known_(known) {}

  Result<PlanAnswer> run() {
    FORETRACE_TRY(PlanAnswer answer, search_plans(question_));
    std::vector<PlanChoice> candidates = std::move(answer.best);
    for (LosingGrid& grid : answer.losing) candidates.push_back(std::move(grid.choice));
    std::stable_sort(
        candidates.begin(), candidates.end(),
        [](const PlanChoice& a, const PlanChoice& b) { return a.step_ns < b.step_ns; });
    answer.best.clear();
    answer.losing.clear();
    answer.simulated = 0;
    const auto limit =
        candidates.empty() ? 0 : slowest_tried * static_cast<double>(candidates.front().step_ns);
    for (const PlanChoice& candidate : candidates) {
      if (tried_.size() == most_tried || static_cast<double>(candidate.step_ns) > limit) break;
      FORETRACE_TRY(simulate(candidate));
    }
    answer.simulated = tried_.size();
    rank(answer);
    return answer;
  }

 private:
  Status simulate(const PlanChoice& candidate) {
    Scenario scenario = question_.scenario;
    scenario.job = candidate.job;
    FORETRACE_TRY(scenario, complete_scenario(std::move(scenario)));
    FORETRACE_TRY(const Answer changed, answer_what_ifs(scenario, known_));
    Tried tried{candidate, changed.fits()};
    PlanChoice& choice = tried.choice;
    choice.step_ns = changed.step_ns();
    choice.low_ns = changed.low_ns();
    choice.high_ns = changed.high_ns();
    if (changed.need()) {
      choice.memory_bytes = static_cast<double>(changed.need()->live_bytes);
      choice.fullest_stage = static_cast<std::size_t>(changed.need()->rank);
    }
    choice.add_memory_range();
    choice.breakdown = {};  // of passes, which this is none of
    choice.again_ns = 0;
    Job whole = choice.job;
    whole.global_batch *= changed.samples();
    choice.figures = job_figures(whole, choice.step_ns, amounts_of(whole));
    tried_.push_back(std::move(tried));
    return ok_status();
  }

  void rank(PlanAnswer& answer) {
    std::stable_sort(tried_.begin(), tried_.end(), [](const Tried& a, const Tried& b) {
      if (a.fits != b.fits) return a.fits;
      return a.choice.step_ns < b.choice.step_ns;
    });
    const double memory =
        static_cast<double>(question_.scenario.cluster->accelerator.memory_bytes) / 0x1p30;
    for (Tried& tried : tried_) {
      if (tried.fits && answer.best.size() < question_.keep) {
        answer.best.push_back(std::move(tried.choice));
        continue;
      }
      std::string why =
          tried.fits
              ? fmt::format("{:+.1f} %", 100 * slower(answer.best.front(), tried.choice))
              : fmt::format("out of memory: stage {} needs at least {:.1f} GiB of {:.1f}",
                            tried.choice.fullest_stage, tried.choice.memory_bytes / 0x1p30, memory);
      answer.losing.push_back({std::move(tried.choice), tried.fits, std::move(why)});
    }
  }

  static double slower(const PlanChoice& best, const PlanChoice& other) {
    return static_cast<double>(other.step_ns) / static_cast<double>(best.step_ns) - 1;
  }

  const PlanQuestion& question_;
  const CataloguePtr& known_;
  std::vector<Tried> tried_;
};

}  // namespace

Result<PlanAnswer> search_changed_plans(const PlanQuestion& question, const CataloguePtr& known) {
  return ChangedPlans(question, known).run();
}

}  // namespace foretrace
