#include "apps/questions/memory/fit.h"

#include <algorithm>
#include <utility>

#include "apps/questions/search/ranking.h"
#include "apps/questions/search/what_if_tree.h"
#include "apps/session/what_if_stack.h"
#include "sim/core/parallel.h"

namespace foretrace {
namespace {

constexpr std::size_t most_next = 5;

// Steps that differ by less are the same to a user, even where no scatter is recorded.
constexpr double least_tolerance = 0.001;

/// The stack and the parts of a set, in the order in which they are applied.
template <typename Element, typename PartsOf>
std::vector<Element> ordered(std::span<const WhatIf> what_ifs, std::span<const Element> stack,
                             const FitSet& set, const FitAnswer& answer, const PartsOf& parts_of) {
  std::vector<std::pair<const WhatIfInfo*, Element>> parts;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    parts.emplace_back(what_ifs[i].info, stack[i]);
  }
  for (const std::size_t number : set.choices) {
    const WhatIfChoice& choice = answer.choices[number];
    for (std::size_t i = 0; i < choice.parts.size(); ++i) {
      parts.emplace_back(choice.parts[i].info, parts_of(choice)[i]);
    }
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return comes_before(*a.first, *b.first); });
  std::vector<Element> all;
  all.reserve(parts.size());
  for (auto& part : parts) {
    all.push_back(std::move(part.second));
  }
  return all;
}

class Fitter {
 public:
  Fitter(const Session& session, std::span<const WhatIf> stack, const Progress& progress)
      : session_(session), stack_(stack), progress_(progress) {}

  Result<FitAnswer> run(const MemoryTarget& target, const SetLimits& limits) {
    answer_.target = target;
    answer_.tolerance = limits.tolerance;
    answer_.most_members = limits.most_members;
    FORETRACE_TRY(answer_.now, simulated({}));
    if (answer_.fits_now()) return std::move(answer_);
    FORETRACE_TRY(std::vector<WhatIfChoice> choices, all_choices(TriedSettings::also_for_memory));
    keep_those_that_edit_tensors(std::move(choices));
    FORETRACE_TRY(search(limits));
    const Status tried = try_all_policies();
    return tried.ok() ? Result<FitAnswer>(std::move(answer_)) : tried.error();
  }

 private:
  /// A set with everything that an answer says of it.
  [[nodiscard]] Result<FitSet> simulated(std::vector<std::size_t> choices) const {
    FitSet set;
    set.choices = std::move(choices);
    const std::vector<WhatIf> stack = with_set(stack_, answer_, set);
    FORETRACE_TRY(const Answer answer, session_.ask(stack));
    set.step_ns = answer.step_ns();
    set.low_ns = answer.low_ns();
    set.high_ns = answer.high_ns();
    set.need = answer.need().value_or(MemoryNeed{});
    set.fits = answer_.target.fits(set.need);
    return set;
  }

  /// Sets without ranges, as fast as can be.
  [[nodiscard]] std::vector<SetTrial> trials(std::span<const std::vector<std::size_t>> sets) {
    const ChoiceSteps numbered(stack_, answer_.choices);
    std::vector<std::vector<std::size_t>> paths;
    paths.reserve(sets.size());
    for (const std::vector<std::size_t>& set : sets) {
      paths.push_back(numbered.path_of(set));
    }
    std::vector<SetTrial> trials(sets.size());
    for_each_stack(session_.recording(), {numbered.steps(), stack_.size()}, paths,
                   [&](std::size_t i, const WhatIfStack* changed) {
                     if (changed != nullptr) {
                       trials[i] = trial(changed->graph());
                     }
                     progress_.one_more();
                   });
    return trials;
  }

  [[nodiscard]] SetTrial trial(const TaskGraph& graph) const {
    const Result<Run> run = simulate_run(graph, session_.options());
    if (!run.ok()) {
      return {};
    }
    const auto need = session_.memory_model().need(graph, run->timeline);
    return {true, run->answer.step_ns, need ? answer_.target.needed_bytes(*need) : 0};
  }

  [[nodiscard]] bool edits_tensors(const FitAnswer& alone, std::size_t choice) const {
    FitSet set;
    set.choices = {choice};
    WhatIfStack changed(session_.recording());
    for (const WhatIf& what_if : with_set(stack_, alone, set)) {
      if (!changed.push(what_if, Neutral::refuse).ok()) return false;
    }
    const std::vector<WhatIf>& parts = alone.choices[choice].parts;
    return std::any_of(
        changed.applied().begin(), changed.applied().end(), [&](const Applied& applied) {
          return applied.tensors_changed > 0 &&
                 std::any_of(parts.begin(), parts.end(),
                             [&](const WhatIf& part) { return part.info == applied.info; });
        });
  }

  void keep_those_that_edit_tensors(std::vector<WhatIfChoice> all) {
    std::erase_if(all, [&](const WhatIfChoice& choice) { return meets_stack(choice, stack_); });
    FitAnswer alone;
    alone.choices = std::move(all);
    std::vector<char> is_kept(alone.choices.size(), 0);
    for_each_index(is_kept.size(),
                   [&](std::size_t i) { is_kept[i] = static_cast<char>(edits_tensors(alone, i)); });
    for (std::size_t i = 0; i < is_kept.size(); ++i) {
      if (is_kept[i] != 0) answer_.choices.push_back(std::move(alone.choices[i]));
    }
  }

  Status add_sets(const SetOutcome& outcome) {
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < outcome.tried.size(); ++i) {
      if (outcome.tried[i].choices.size() == 1) wanted.push_back(i);
    }
    const std::size_t singles = wanted.size();
    std::vector<std::size_t> listed;
    if (outcome.best) listed.push_back(*outcome.best);
    for (std::size_t i = 0; i < outcome.fitting && wanted.size() < singles + most_next; ++i) {
      // A listed set with something superfluous is no other way to fit.
      const std::vector<std::size_t>& set = outcome.tried[i].choices;
      const bool adds = std::none_of(listed.begin(), listed.end(), [&](std::size_t other) {
        const std::vector<std::size_t>& part = outcome.tried[other].choices;
        return std::includes(set.begin(), set.end(), part.begin(), part.end());
      });
      if (adds) {
        wanted.push_back(i);
        listed.push_back(i);
      }
    }
    const std::size_t next_end = wanted.size();
    if (outcome.smallest) wanted.push_back(*outcome.smallest);
    if (outcome.best) wanted.push_back(*outcome.best);
    std::vector<Result<FitSet>> sets(wanted.size(), FitSet{});
    for_each_index(wanted.size(),
                   [&](std::size_t i) { sets[i] = simulated(outcome.tried[wanted[i]].choices); });
    for (std::size_t i = 0; i < sets.size(); ++i) {
      FORETRACE_TRY(sets[i]);
      if (i < singles) {
        answer_.singles.push_back(*std::move(sets[i]));
      } else if (i < next_end) {
        answer_.next.push_back(*std::move(sets[i]));
      } else {
        (i == next_end ? answer_.smallest : answer_.best) = *std::move(sets[i]);
      }
    }
    std::stable_sort(answer_.singles.begin(), answer_.singles.end(),
                     [&](const FitSet& a, const FitSet& b) {
                       return a.need.reserved_bytes() < b.need.reserved_bytes();
                     });
    return ok_status();
  }

  Status try_all_policies() {
    WhatIfStack changed(session_.recording());
    for (const WhatIf& what_if : in_order(stack_)) {
      FORETRACE_TRY(changed.push(what_if, Neutral::keep));
    }
    const MemoryNeed& need = answer_.now.need;
    BudgetQuestion question{.size = {.bytes = answer_.target.capacity_bytes},
                            .choice = {.name = "fail"},
                            .overhead_bytes = answer_.target.needed_bytes(need) - need.live_bytes};
    FORETRACE_TRY(answer_.policies, try_policies(changed.graph(), question, session_.options()));
    return ok_status();
  }

  Status search(SetLimits limits) {
    SetProblem problem;
    std::vector<const WhatIfInfo*> groups;
    for (const WhatIfChoice& choice : answer_.choices) {
      const auto found = std::find(groups.begin(), groups.end(), choice.info);
      problem.group.push_back(static_cast<std::size_t>(found - groups.begin()));
      if (found == groups.end()) groups.push_back(choice.info);
    }
    problem.excludes = [&](std::size_t a, std::size_t b) {
      return in_conflict(*answer_.choices[a].info, *answer_.choices[b].info);
    };
    problem.try_sets = [&](std::span<const std::vector<std::size_t>> sets) { return trials(sets); };
    problem.expect = [&](std::size_t sets) { progress_.expect(sets); };
    progress_.expect(limits.most_trials);
    problem.nothing = {true, answer_.now.step_ns, answer_.target.needed_bytes(answer_.now.need)};
    problem.capacity_bytes = answer_.target.capacity_bytes;
    const SetOutcome outcome = search_sets(problem, limits);
    answer_.sets = outcome.sets;
    answer_.trials = outcome.trials;
    answer_.fitting = outcome.fitting;
    answer_.is_complete = outcome.is_complete;
    return add_sets(outcome);
  }

  const Session& session_;
  std::span<const WhatIf> stack_;
  ProgressCount progress_;
  FitAnswer answer_;
};

}  // namespace

std::vector<WhatIf> with_set(std::span<const WhatIf> stack, const FitAnswer& answer,
                             const FitSet& set) {
  return ordered(stack, stack, set, answer,
                 [](const WhatIfChoice& choice) { return choice.parts; });
}

std::vector<std::string> with_set(std::span<const std::string> stack, const FitAnswer& answer,
                                  const FitSet& set) {
  std::vector<std::string> texts(stack.begin(), stack.end());
  for (const std::size_t number : set.choices) {
    const WhatIfChoice& choice = answer.choices[number];
    texts.insert(texts.end(), choice.texts.begin(), choice.texts.end());
  }
  return texts;
}

Result<FitAnswer> fit_memory(const Session& session, std::span<const WhatIf> stack,
                             const MemoryTarget& target, SetLimits limits,
                             const Progress& progress) {
  FORETRACE_TRY(check_tensors(session.recording(), "memory to fit"));
  limits.tolerance = std::max({limits.tolerance, least_tolerance, session.replay().scatter});
  return Fitter(session, stack, progress).run(target, limits);
}

}  // namespace foretrace
