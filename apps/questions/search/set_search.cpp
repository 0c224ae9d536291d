#include "apps/questions/search/set_search.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "sim/core/result.h"

namespace foretrace {
namespace {

using Set = std::vector<std::size_t>;

/// What a set is expected to change against nothing.
struct SetEstimate {
  std::int64_t step_ns = 0;
  std::int64_t need_bytes = 0;
};

class Search {
 public:
  Search(const SetProblem& problem, const SetLimits& limits) : problem_(problem), limits_(limits) {}

  SetOutcome run() {
    std::vector<Set> singles;
    for (std::size_t i = 0; i < problem_.group.size(); ++i) {
      singles.push_back({i});
    }
    alone_.resize(singles.size());
    try_all(singles);
    for (const TriedSet& set : outcome_.tried) {
      possible_.push_back(set.choices[0]);
      alone_[set.choices[0]] = change_of(set.trial);
    }
    std::vector<std::vector<Set>> sizes;
    std::vector<Set> smaller;
    for (const std::size_t choice : possible_) {
      smaller.push_back({choice});
    }
    outcome_.sets = smaller.size();
    for (std::size_t size = 2; size <= limits_.most_members; ++size) {
      smaller = extended(smaller);
      outcome_.sets += smaller.size();
      sizes.push_back(smaller);
    }
    outcome_.is_complete =
        outcome_.sets + (singles.size() - possible_.size()) <= limits_.most_trials;
    if (problem_.expect) {
      const std::size_t trials = singles.size() - possible_.size() + outcome_.sets;
      problem_.expect(std::min(trials, limits_.most_trials));
    }
    if (outcome_.is_complete) {
      // All at once: sets that begin alike are cheaper together.
      std::vector<Set> all;
      for (const std::vector<Set>& sets : sizes) {
        all.insert(all.end(), sets.begin(), sets.end());
      }
      try_all(all);
    }
    for (std::size_t i = 0; i < sizes.size() && !outcome_.is_complete; ++i) {
      try_all(most_promising(std::move(sizes[i]), i + 1 == sizes.size()));
    }
    settle();
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] SetEstimate change_of(const SetTrial& trial) const {
    return {trial.step_ns - problem_.nothing.step_ns,
            trial.need_bytes - problem_.nothing.need_bytes};
  }

  /// Every set with one choice more, in order.
  [[nodiscard]] std::vector<Set> extended(const std::vector<Set>& sets) const {
    std::vector<Set> larger;
    for (const Set& set : sets) {
      for (const std::size_t choice : possible_) {
        const bool is_legal =
            choice > set.back() && std::all_of(set.begin(), set.end(), [&](std::size_t member) {
              return problem_.group[member] != problem_.group[choice] &&
                     !problem_.excludes(member, choice);
            });
        if (is_legal) {
          larger.push_back(set);
          larger.back().push_back(choice);
        }
      }
    }
    return larger;
  }

  [[nodiscard]] SetEstimate expected(const Set& set) const {
    SetEstimate sum{problem_.nothing.step_ns, problem_.nothing.need_bytes};
    for (std::size_t i = 0; i < set.size(); ++i) {
      sum.step_ns += alone_[set[i]].step_ns;
      sum.need_bytes += alone_[set[i]].need_bytes;
      for (std::size_t j = 0; j < i; ++j) {
        const auto together = pairs_.find({set[j], set[i]});
        if (together != pairs_.end()) {
          sum.step_ns += together->second.step_ns;
          sum.need_bytes += together->second.need_bytes;
        }
      }
    }
    return sum;
  }

  [[nodiscard]] std::vector<Set> most_promising(std::vector<Set> sets, bool is_last) const {
    using Key = std::tuple<bool, std::int64_t, Set>;
    std::vector<Key> keys;
    keys.reserve(sets.size());
    for (Set& set : sets) {
      const SetEstimate estimate = expected(set);
      const bool is_over = estimate.need_bytes > problem_.capacity_bytes;
      keys.emplace_back(is_over, is_over ? estimate.need_bytes : estimate.step_ns, std::move(set));
    }
    std::sort(keys.begin(), keys.end());
    const std::size_t left = limits_.most_trials - std::min(limits_.most_trials, outcome_.trials);
    keys.resize(std::min(keys.size(), is_last ? left : (left + 1) / 2));
    std::vector<Set> chosen;
    chosen.reserve(keys.size());
    for (Key& key : keys) {
      chosen.push_back(std::move(std::get<Set>(key)));
    }
    return chosen;
  }

  void try_all(const std::vector<Set>& sets) {
    if (sets.empty()) return;
    const std::vector<SetTrial> trials = problem_.try_sets(sets);
    FORETRACE_CHECK(trials.size() == sets.size());
    outcome_.trials += sets.size();
    for (std::size_t i = 0; i < sets.size(); ++i) {
      if (!trials[i].is_possible) continue;
      if (sets[i].size() == 2) {
        // What both do together, beyond what they do alone.
        const SetEstimate both = change_of(trials[i]);
        const SetEstimate& a = alone_[sets[i][0]];
        const SetEstimate& b = alone_[sets[i][1]];
        pairs_[{sets[i][0], sets[i][1]}] = {both.step_ns - a.step_ns - b.step_ns,
                                            both.need_bytes - a.need_bytes - b.need_bytes};
      }
      outcome_.tried.push_back({sets[i], trials[i]});
    }
  }

  [[nodiscard]] bool fits(const TriedSet& set) const {
    return set.trial.need_bytes <= problem_.capacity_bytes;
  }

  void settle() {
    std::vector<TriedSet>& tried = outcome_.tried;
    const auto by_step = [](const TriedSet& set) {
      return std::make_tuple(set.trial.step_ns, set.choices.size(), set.trial.need_bytes);
    };
    const auto by_need = [](const TriedSet& set) {
      return std::make_tuple(set.trial.need_bytes, set.trial.step_ns, set.choices.size());
    };
    const auto rest = std::stable_partition(tried.begin(), tried.end(),
                                            [&](const TriedSet& set) { return fits(set); });
    std::stable_sort(tried.begin(), rest, [&](const TriedSet& a, const TriedSet& b) {
      return std::make_tuple(by_step(a), a.choices) < std::make_tuple(by_step(b), b.choices);
    });
    std::stable_sort(rest, tried.end(), [&](const TriedSet& a, const TriedSet& b) {
      return std::make_tuple(by_need(a), a.choices) < std::make_tuple(by_need(b), b.choices);
    });
    outcome_.fitting = static_cast<std::size_t>(rest - tried.begin());
    for (std::size_t i = 0; i < tried.size(); ++i) {
      if (!outcome_.smallest || by_need(tried[i]) < by_need(tried[*outcome_.smallest])) {
        outcome_.smallest = i;
      }
    }
    for (std::size_t i = 0; i < outcome_.fitting; ++i) {
      const auto shortest = static_cast<double>(tried[0].trial.step_ns);
      const bool is_as_good =
          static_cast<double>(tried[i].trial.step_ns) <= shortest * (1 + limits_.tolerance);
      if (is_as_good &&
          (!outcome_.best || tried[i].choices.size() < tried[*outcome_.best].choices.size())) {
        outcome_.best = i;
      }
    }
  }

  const SetProblem& problem_;
  const SetLimits& limits_;
  std::vector<std::size_t> possible_;  // choices, alone
  std::vector<SetEstimate> alone_;     // per choice
  std::map<std::pair<std::size_t, std::size_t>, SetEstimate> pairs_;
  SetOutcome outcome_;
};

}  // namespace

SetOutcome search_sets(const SetProblem& problem, const SetLimits& limits) {
  return Search(problem, limits).run();
}

}  // namespace foretrace
