#include "apps/questions/search/best_set.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "apps/questions/search/set_search.h"
#include "apps/questions/search/what_if_tree.h"
#include "apps/session/what_if_stack.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

using Members = std::vector<std::size_t>;

// Sets of up to so many are all tried, where the trials allow it.
constexpr std::size_t small_set = 3;
// Gains of less are none to a user, even where no scatter is recorded.
constexpr double least_gain = 0.001;
// Each makes the set better; a search that goes on for longer has lost its way.
constexpr int most_set_rounds = 20;
constexpr std::int64_t any_size = std::numeric_limits<std::int64_t>::max();

class BestSetSearch {
 public:
  BestSetSearch(const Session& session, std::span<const WhatIf> stack,
                const BestSetQuestion& question)
      : session_(session), stack_(stack), question_(question) {}

  Result<BestSetAnswer> run(const Progress& progress) {
    ProgressCount count(progress);
    progress_ = &count;
    count.expect(question_.most_trials);
    answer_.by = question_.by;
    answer_.most_members = question_.most_members;
    answer_.tolerance = std::max(least_gain, session_.replay().scatter);
    FORETRACE_TRY(look_at_now());
    FORETRACE_TRY(choose());
    const Members small = improved(try_small_sets());
    const Members best = better_of(improved({}), small);
    FORETRACE_TRY(tell(best));
    return std::move(answer_);
  }

 private:
  /// What every set is compared with: the stack alone.
  Status look_at_now() {
    if (question_.by == RankBy::memory && !session_.memory_model().is_known()) {
      return Error{ErrorCode::missing_cost,
                   "order by memory: the trace records neither device memory nor tensor shapes, "
                   "expected one recorded with profile_memory=True (or record_shapes=True)"};
    }
    if (question_.target && !session_.memory_model().is_known()) {
      return Error{ErrorCode::missing_cost,
                   "memory to fit: the trace records neither device memory nor tensor shapes, "
                   "expected one recorded with profile_memory=True (or record_shapes=True)"};
    }
    if (question_.by == RankBy::time && !question_.target && session_.memory_model().is_known()) {
      FORETRACE_TRY(expect_device_work(session_.graph(), "best set"));
    }
    WhatIfStack changed(session_.recording(), session_.options().checks);
    for (const WhatIf& what_if : in_order(stack_)) {
      FORETRACE_TRY(changed.push(what_if, Neutral::keep));
    }
    answer_.target = question_.target;
    const std::optional<Accelerator>& device = changed.accelerator();
    if (!answer_.target && device && session_.need()) {
      answer_.target = target_of(session_.recording(), *session_.need(), *device);
    }
    auto now = measured(changed, {});
    if (!now) return Error{ErrorCode::bad_usage, "best set: the run cannot be simulated as it is"};
    answer_.now = *now;
    measured_[{}] = answer_.now;
    return ok_status();
  }

  /// Choices that are possible alone.
  Status choose() {
    for (const std::string& name : question_.without) {
      FORETRACE_TRY(find_what_if(name).with_context("what-if left out"));
    }
    const bool for_memory = question_.by == RankBy::memory || !answer_.now.fits;
    FORETRACE_TRY(auto all, all_choices(for_memory ? TriedSettings::also_for_memory
                                                   : TriedSettings::defaults));
    std::erase_if(all, [&](const WhatIfChoice& choice) {
      const auto is_left_out = [&](const std::string& name) { return name == choice.info->name; };
      return meets_stack(choice, stack_) ||
             std::any_of(question_.without.begin(), question_.without.end(), is_left_out);
    });
    answer_.choices = std::move(all);
    std::vector<Members> singles;
    for (std::size_t i = 0; i < answer_.choices.size(); ++i) singles.push_back({i});
    measure_all(singles);
    std::vector<WhatIfChoice> possible;
    std::map<Members, std::optional<ChosenSet>> renumbered = {{{}, answer_.now}};
    for (const Members& single : singles) {
      std::optional<ChosenSet> alone = measured_[single];
      if (!alone) continue;
      alone->choices = {possible.size()};
      renumbered[alone->choices] = alone;
      possible.push_back(std::move(answer_.choices[single[0]]));
    }
    answer_.choices = std::move(possible);
    measured_ = std::move(renumbered);
    return ok_status();
  }

  [[nodiscard]] std::optional<ChosenSet> measured(const WhatIfStack& changed,
                                                  Members choices) const {
    const Result<Run> run = simulate_run(changed.graph(), session_.options());
    if (!run.ok()) return std::nullopt;
    const bool choices_are_none = choices.empty();
    ChosenSet set{.choices = std::move(choices),
                  .step_ns = run->answer.step_ns,
                  .samples = changed.samples().value_or(1),
                  .live_bytes = {},
                  .needed_bytes = {}};
    if (!choices_are_none) {
      set.speedup = speedup_of(answer_.now.step_ns, set.step_ns, set.samples / answer_.now.samples);
    }
    const auto need = session_.memory_model().need(changed.graph(), run->timeline);
    if (!need) return set;
    set.live_bytes = need->live_bytes;
    if (!answer_.target) return set;
    set.needed_bytes = answer_.target->needed_bytes(*need);
    set.fits = answer_.target->fits(*need);
    return set;
  }

  /// Those that were not measured yet, by all threads.
  void measure_all(const std::vector<Members>& sets) {
    std::vector<Members> missing;
    for (const Members& set : sets) {
      if (!measured_.contains(set)) missing.push_back(set);
    }
    if (missing.empty()) return;
    answer_.trials += missing.size();
    const ChoiceSteps numbered(stack_, answer_.choices);
    std::vector<std::vector<std::size_t>> paths;
    paths.reserve(missing.size());
    for (const Members& set : missing) paths.push_back(numbered.path_of(set));
    std::vector<std::optional<ChosenSet>> found(missing.size());
    for_each_stack(session_.recording(), {numbered.steps(), stack_.size()}, paths,
                   [&](std::size_t i, const WhatIfStack* changed) {
                     if (changed != nullptr) found[i] = measured(*changed, missing[i]);
                     progress_->one_more();
                   });
    for (std::size_t i = 0; i < missing.size(); ++i) {
      measured_[missing[i]] = std::move(found[i]);
    }
  }

  [[nodiscard]] std::int64_t cost_of(const ChosenSet& set) const {
    return question_.by == RankBy::memory ? *set.live_bytes : to_whole(set.time_per_sample());
  }
  [[nodiscard]] static std::int64_t excess_of(const ChosenSet& set) {
    return set.fits ? 0 : *set.needed_bytes;
  }
  /// The order of sets: those that fit, then by what is asked for.
  [[nodiscard]] auto key_of(const ChosenSet& set) const {
    return std::make_tuple(excess_of(set), cost_of(set), set.choices.size(),
                           to_whole(set.time_per_sample()), set.choices);
  }
  /// Whether the difference is one that a user would call so.
  [[nodiscard]] bool is_better(const ChosenSet& a, const ChosenSet& b) const {
    if (excess_of(a) != excess_of(b)) return excess_of(a) < excess_of(b);
    return static_cast<double>(cost_of(a)) <
           static_cast<double>(cost_of(b)) * (1 - answer_.tolerance);
  }

  [[nodiscard]] bool may_meet(std::size_t a, std::size_t b) const {
    const WhatIfInfo& one = *answer_.choices[a].info;
    const WhatIfInfo& other = *answer_.choices[b].info;
    return &one != &other && !in_conflict(one, other);
  }

  /// The best of the small sets.
  Members try_small_sets() {
    SetProblem problem;
    std::map<const WhatIfInfo*, std::size_t> groups;
    for (const WhatIfChoice& choice : answer_.choices) {
      problem.group.push_back(groups.emplace(choice.info, groups.size()).first->second);
    }
    problem.excludes = [&](std::size_t a, std::size_t b) { return !may_meet(a, b); };
    const auto trial_of = [&](const std::optional<ChosenSet>& set) -> SetTrial {
      if (!set) return {};
      if (question_.by == RankBy::memory) return {true, cost_of(*set), excess_of(*set)};
      return {true, cost_of(*set), set->needed_bytes.value_or(0)};
    };
    problem.try_sets = [&](std::span<const Members> sets) {
      measure_all({sets.begin(), sets.end()});
      std::vector<SetTrial> trials;
      for (const Members& set : sets) trials.push_back(trial_of(measured_.at(set)));
      return trials;
    };
    problem.nothing = trial_of(answer_.now);
    problem.capacity_bytes = any_size;
    if (question_.by == RankBy::memory) {
      problem.capacity_bytes = 0;
    } else if (answer_.target) {
      problem.capacity_bytes = answer_.target->most_bytes();
    }
    const SetOutcome outcome =
        search_sets(problem, {.most_members = std::min(small_set, question_.most_members),
                              .most_trials = question_.most_trials,
                              .tolerance = answer_.tolerance});
    answer_.complete_size =
        outcome.is_complete ? std::min(small_set, question_.most_members) : std::size_t{1};
    Members best;
    for (const TriedSet& tried : outcome.tried) best = better_of(best, tried.choices);
    return best;
  }

  /// Sets that were measured and are possible.
  [[nodiscard]] Members better_of(const Members& a, const Members& b) const {
    return key_of(*measured_.at(b)) < key_of(*measured_.at(a)) ? b : a;
  }

  /// With what gives most, as long as it gives something.
  Members grown(Members set) {
    while (set.size() < question_.most_members) {
      std::vector<Members> larger;
      for (std::size_t choice = 0; choice < answer_.choices.size(); ++choice) {
        if (is_legal(set, choice)) larger.push_back(with(set, choice));
      }
      measure_all(larger);
      Members best = set;
      for (const Members& one : larger) {
        if (measured_.at(one)) best = better_of(best, one);
      }
      if (best == set || !is_better(*measured_.at(best), *measured_.at(set))) return set;
      set = std::move(best);
    }
    return set;
  }

  /// Grown, without what gives nothing, and with single members exchanged where that is better;
  /// again until nothing changes.
  Members improved(Members set) {
    for (int round = 0; round < most_set_rounds; ++round) {
      set = pruned(grown(std::move(set)));
      Members other = exchanged(set);
      if (other == set) break;
      set = std::move(other);
    }
    return pruned(std::move(set));
  }

  /// The best that one member in the place of another gives; the set itself if that is not better.
  Members exchanged(const Members& set) {
    std::vector<Members> others;
    for (const std::size_t member : set) {
      const Members rest = all_but(set, member);
      for (std::size_t choice = 0; choice < answer_.choices.size(); ++choice) {
        if (choice != member && is_legal(rest, choice)) others.push_back(with(rest, choice));
      }
    }
    measure_all(others);
    Members best = set;
    for (const Members& one : others) {
      if (measured_.at(one)) best = better_of(best, one);
    }
    return is_better(*measured_.at(best), *measured_.at(set)) ? best : set;
  }

  [[nodiscard]] bool is_legal(const Members& set, std::size_t choice) const {
    return std::all_of(set.begin(), set.end(), [&](std::size_t member) {
      return member != choice && may_meet(member, choice);
    });
  }
  [[nodiscard]] static Members with(Members set, std::size_t choice) {
    set.insert(std::upper_bound(set.begin(), set.end(), choice), choice);
    return set;
  }

  [[nodiscard]] static Members all_but(const Members& set, std::size_t member) {
    Members rest = set;
    std::erase(rest, member);
    return rest;
  }

  /// Without the members that give nothing beside the others, one by one.
  Members pruned(Members set) {
    while (!set.empty()) {
      std::vector<Members> smaller;
      for (const std::size_t member : set) smaller.push_back(all_but(set, member));
      measure_all(smaller);
      const Members* best = nullptr;
      for (const Members& one : smaller) {
        if (!measured_.at(one) || is_better(*measured_.at(set), *measured_.at(one))) continue;
        if (best == nullptr || key_of(*measured_.at(one)) < key_of(*measured_.at(*best))) {
          best = &one;
        }
      }
      if (best == nullptr) return set;
      set = *best;
    }
    return set;
  }

  /// Everything that the answer says of the sets.
  Status tell(const Members& best) {
    const ChosenSet& chosen = *measured_.at(best);
    if (!chosen.fits) answer_.nearest = chosen;
    if (chosen.fits && !best.empty()) {
      answer_.best = chosen;
      FORETRACE_TRY(const auto whole, session_.ask(what_ifs_of_set(stack_, answer_, chosen)));
      answer_.low_ns = whole.low_ns();
      answer_.high_ns = whole.high_ns();
      add_members(best);
    }
    add_sizes();
    add_front();
    return ok_status();
  }

  /// One after the other what brings the set so far furthest.
  void add_members(const Members& best) {
    Members so_far;
    Members rest = best;
    while (!rest.empty()) {
      std::vector<Members> next;
      for (const std::size_t member : rest) {
        next.push_back(with(so_far, member));
      }
      measure_all(next);
      std::size_t first = 0;
      for (std::size_t i = 1; i < next.size(); ++i) {
        const auto& a = measured_.at(next[i]);
        const auto& b = measured_.at(next[first]);
        if (a && (!b || key_of(*a) < key_of(*b))) first = i;
      }
      const std::size_t member = rest[first];
      const Members others = all_but(best, member);
      measure_all({others});
      answer_.members.push_back(
          {member, measured_.at(next[first]), measured_.at({member}), measured_.at(others)});
      so_far = next[first];
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(first));
    }
  }

  void add_sizes() {
    std::map<std::size_t, const ChosenSet*> best;
    for (const auto& [members, set] : measured_) {
      if (!set || members.empty()) continue;
      const ChosenSet*& one = best[members.size()];
      if (one == nullptr || key_of(*set) < key_of(*one)) one = &*set;
    }
    const ChosenSet* last = &answer_.now;
    for (const auto& [size, set] : best) {
      if (!is_better(*set, *last)) continue;
      answer_.by_size.push_back(*set);
      last = &answer_.by_size.back();
    }
  }

  /// Sets that no other beats in time and memory; of equal ones the smaller.
  void add_front() {
    if (!answer_.now.live_bytes) return;
    std::vector<const ChosenSet*> sets;
    for (const auto& [members, set] : measured_) {
      if (set && set->fits) sets.push_back(&*set);
    }
    const auto key = [](const ChosenSet* set) {
      return std::make_tuple(to_whole(set->time_per_sample()), *set->live_bytes,
                             set->choices.size(), set->choices);
    };
    std::sort(sets.begin(), sets.end(),
              [&](const ChosenSet* a, const ChosenSet* b) { return key(a) < key(b); });
    for (const ChosenSet* const set : sets) {
      const bool saves =
          answer_.front.empty() ||
          static_cast<double>(*set->live_bytes) <
              static_cast<double>(*answer_.front.back().live_bytes) * (1 - least_gain);
      if (saves) answer_.front.push_back(*set);
    }
  }

  const Session& session_;
  std::span<const WhatIf> stack_;
  const BestSetQuestion& question_;
  ProgressCount* progress_ = nullptr;
  std::map<Members, std::optional<ChosenSet>> measured_;  ///< none: not possible
  BestSetAnswer answer_;
};

}  // namespace

Result<BestSetAnswer> find_best_set(const Session& session, std::span<const WhatIf> stack,
                                    const BestSetQuestion& question, const Progress& progress) {
  return BestSetSearch(session, stack, question).run(progress);
}

std::vector<std::string> texts_of_set(std::span<const std::string> stack,
                                      const BestSetAnswer& answer, const ChosenSet& set) {
  std::vector<std::string> texts(stack.begin(), stack.end());
  for (const std::size_t choice : set.choices) {
    const std::vector<std::string>& own = answer.choices[choice].texts;
    texts.insert(texts.end(), own.begin(), own.end());
  }
  return texts;
}

std::vector<WhatIf> what_ifs_of_set(std::span<const WhatIf> stack, const BestSetAnswer& answer,
                                    const ChosenSet& set) {
  return ChoiceSteps(stack, answer.choices).what_ifs_of(set.choices);
}

}  // namespace foretrace
