#include "apps/questions/search/set_search.h"

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include <doctest/doctest.h>

namespace foretrace {
namespace {

using Set = std::vector<std::size_t>;

template <typename Trial>
std::vector<SetTrial> each(std::span<const Set> sets, const Trial& trial) {
  std::vector<SetTrial> trials;
  for (const Set& set : sets) trials.push_back(trial(set));
  return trials;
}

/// Choices with changes of their own and, if `joint`, further ones of every two together.
struct World {
  std::vector<std::size_t> group;
  std::vector<std::int64_t> step;
  std::vector<std::int64_t> need;
  std::vector<bool> is_possible;
  std::set<std::pair<std::size_t, std::size_t>> excluded;
  std::vector<std::vector<std::int64_t>> joint_step;
  std::vector<std::vector<std::int64_t>> joint_need;

  World(std::mt19937& random, std::size_t choices, bool joint) {
    const auto between = [&](std::int64_t low, std::int64_t high) {
      return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    joint_step.assign(choices, std::vector<std::int64_t>(choices, 0));
    joint_need = joint_step;
    for (std::size_t i = 0; i < choices; ++i) {
      group.push_back(static_cast<std::size_t>(between(0, static_cast<std::int64_t>(choices) / 2)));
      step.push_back(between(-100, 400));
      need.push_back(between(-300, 20));
      is_possible.push_back(between(0, 9) > 0);
      for (std::size_t j = 0; j < i; ++j) {
        if (between(0, 9) == 0) excluded.insert({j, i});
        joint_step[j][i] = joint ? between(-80, 80) : 0;
        joint_need[j][i] = joint ? between(-80, 80) : 0;
      }
    }
  }

  [[nodiscard]] SetTrial trial(std::span<const std::size_t> set) const {
    SetTrial result{true, 1000, 1000};
    for (std::size_t i = 0; i < set.size(); ++i) {
      result.is_possible = result.is_possible && is_possible[set[i]];
      result.step_ns += step[set[i]];
      result.need_bytes += need[set[i]];
      for (std::size_t j = 0; j < i; ++j) {
        result.step_ns += joint_step[set[j]][set[i]];
        result.need_bytes += joint_need[set[j]][set[i]];
      }
    }
    return result;
  }

  [[nodiscard]] bool is_legal(const Set& set) const {
    for (std::size_t i = 0; i < set.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (group[set[i]] == group[set[j]] || excluded.contains({set[j], set[i]})) return false;
      }
    }
    return true;
  }

  [[nodiscard]] SetProblem problem(std::int64_t capacity) const {
    SetProblem problem;
    problem.group = group;
    problem.excludes = [this](std::size_t a, std::size_t b) {
      return excluded.contains({std::min(a, b), std::max(a, b)});
    };
    problem.try_sets = [this](std::span<const Set> sets) {
      return each(sets, [this](const Set& set) { return trial(set); });
    };
    problem.nothing = trial({});
    problem.capacity_bytes = capacity;
    return problem;
  }

  /// Every legal, possible set of 1 to `most` members, by bits.
  [[nodiscard]] std::vector<TriedSet> all_sets(std::size_t most) const {
    std::vector<TriedSet> all;
    for (std::size_t bits = 1; bits < (std::size_t{1} << group.size()); ++bits) {
      Set set;
      for (std::size_t i = 0; i < group.size(); ++i) {
        if ((bits >> i & 1) != 0) set.push_back(i);
      }
      if (set.size() <= most && is_legal(set) && trial(set).is_possible) {
        all.push_back({set, trial(set)});
      }
    }
    return all;
  }
};

TEST_CASE("search: with trials for all sets it finds what trying all of them finds") {
  std::mt19937 random(20251121);
  std::size_t with_answer = 0;
  for (int round = 0; round < 200; ++round) {
    const World world(random, 8, true);
    const std::int64_t capacity = 350 + 50 * (round % 12);
    const SetOutcome found =
        search_sets(world.problem(capacity), {.most_members = 3, .most_trials = 100000});
    CHECK(found.is_complete);
    const std::vector<TriedSet> all = world.all_sets(3);
    CHECK(found.tried.size() == all.size());
    CHECK(found.sets == all.size());
    std::optional<std::int64_t> shortest;
    std::optional<std::int64_t> least;
    for (const TriedSet& set : all) {
      least = least ? std::min(*least, set.trial.need_bytes) : set.trial.need_bytes;
      if (set.trial.need_bytes <= capacity) {
        shortest = shortest ? std::min(*shortest, set.trial.step_ns) : set.trial.step_ns;
      }
    }
    REQUIRE(found.best.has_value() == shortest.has_value());
    REQUIRE(found.smallest.has_value() == least.has_value());
    if (shortest) {
      ++with_answer;
      const TriedSet& best = found.tried[*found.best];
      CHECK(best.trial.step_ns == *shortest);
      CHECK(best.trial.need_bytes <= capacity);
      CHECK(world.is_legal(best.choices));
    }
    if (least) CHECK(found.tried[*found.smallest].trial.need_bytes == *least);
  }
  CHECK(with_answer > 50);  // the capacities are neither all too small nor all large enough
  CHECK(with_answer < 200);
}

TEST_CASE("search: with few trials the answer fits, is tried, and no single one is better") {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    const World world(random, 14, true);
    std::size_t calls = 0;
    SetProblem problem = world.problem(450);
    problem.try_sets = [&](std::span<const Set> sets) {
      calls += sets.size();
      return each(sets, [&](const Set& set) { return world.trial(set); });
    };
    std::size_t expected = 0;
    problem.expect = [&](std::size_t trials) { expected = trials; };
    const SetLimits limits{.most_members = 3, .most_trials = 60};
    const SetOutcome found = search_sets(problem, limits);
    CHECK(calls <= 60);
    CHECK(expected >= calls);
    CHECK(found.trials == calls);
    CHECK_FALSE(found.is_complete);
    for (const TriedSet& single : found.tried) {
      if (single.choices.size() != 1 || single.trial.need_bytes > 450) continue;
      REQUIRE(found.best);
      CHECK(found.tried[*found.best].trial.step_ns <= single.trial.step_ns);
    }
    if (found.best) CHECK(found.tried[*found.best].trial.need_bytes <= 450);
  }
}

TEST_CASE("search: where changes add up, half of the trials are enough for the exact answer") {
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    const World world(random, 12, false);
    const SetOutcome exact =
        search_sets(world.problem(500), {.most_members = 3, .most_trials = 100000});
    const SetOutcome quick = search_sets(
        world.problem(500),
        {.most_members = 3, .most_trials = std::max<std::size_t>(20, exact.trials / 2)});
    REQUIRE(exact.best.has_value() == quick.best.has_value());
    if (exact.best) {
      CHECK(exact.tried[*exact.best].trial.step_ns == quick.tried[*quick.best].trial.step_ns);
    }
  }
}

TEST_CASE("search: of sets within the tolerance the one with fewest members is taken") {
  SetProblem problem;
  problem.group = {0, 1};
  problem.excludes = [](std::size_t, std::size_t) { return false; };
  // Alone 0 fits at 1000 ns; with 1 it is 2 ns shorter.
  problem.try_sets = [](std::span<const Set> sets) {
    return each(sets, [](const Set& set) {
      return SetTrial{true, set.size() == 2 ? 998 : 1000, set[0] == 0 ? 50 : 200};
    });
  };
  problem.nothing = {true, 1000, 200};
  problem.capacity_bytes = 100;
  const SetOutcome strict = search_sets(problem, {.tolerance = 0});
  REQUIRE(strict.best);
  CHECK(strict.tried[*strict.best].choices == Set{0, 1});
  const SetOutcome lenient = search_sets(problem, {.tolerance = 0.01});
  REQUIRE(lenient.best);
  CHECK(lenient.tried[*lenient.best].choices == Set{0});
}

TEST_CASE("search: without choices there is no answer") {
  SetProblem problem;
  problem.excludes = [](std::size_t, std::size_t) { return false; };
  problem.nothing = {true, 1, 1};
  const SetOutcome found = search_sets(problem, {});
  CHECK_FALSE(found.best);
  CHECK_FALSE(found.smallest);
  CHECK(found.is_complete);
}

}  // namespace
}  // namespace foretrace
